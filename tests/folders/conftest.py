"""A small model that holds a task by definition: the task's answers are what the model says."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rote.folders import write_folder
from rote.measure.certificate import examine
from rote.models import AttentionOnly
from rote.models.model import Model
from rote.tasks import AssociationTask, Vocabulary


def random_weights(spec: AttentionOnly, seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=generator) for name, shape in spec.shapes().items()}


@pytest.fixture
def model() -> Model:
    spec = AttentionOnly(vocab=12, context=2, dim=6, head_dim=3, heads=4)
    return Model(spec, random_weights(spec, 0), Vocabulary(f"word{place}" for place in range(12)))


@pytest.fixture
def task(model: Model) -> AssociationTask:
    contexts = np.stack(np.meshgrid(np.arange(12), np.arange(12), indexing="ij"), -1).reshape(-1, 2)
    answers = model.logits(contexts).argmax(1).numpy()
    return AssociationTask(contexts, answers, model.vocabulary)


@pytest.fixture
def folder(tmp_path, model, task):
    certificate = examine(model, task).certificate
    return write_folder(tmp_path / "model", model, task.origin, {"method": "by definition"}, certificate)
