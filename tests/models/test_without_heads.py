"""Attention-only Transformers with `heads=0`: the residual stream answers alone, trained, saved and exported."""

import numpy as np
import pytest
import torch

import rote
from rote.testing.random_models import random_model

SPEC = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=3, heads=0)
FACTS = "random:vocab=6,context=2,facts=9,seed=1"


def test_the_answer_depends_on_the_last_token_alone():
    model = random_model(SPEC, 3)
    weights = {name: tensor.numpy() for name, tensor in model.weights.items()}
    for last in range(6):
        expected = weights["unembed"] @ (weights["tokens"][last] + weights["positions"][1])
        contexts = np.array([[first, last] for first in range(6)])
        np.testing.assert_allclose(model.logits(contexts).numpy(), np.tile(expected, (6, 1)), atol=1e-12)


def test_parameters_are_those_of_the_embeddings():
    assert SPEC.parameters() == 4 * (2 + 2 * 6) == random_model(SPEC, 0).parameters


@pytest.mark.parametrize("layers", [1, 2])
def test_both_engines_train_alike_up_to_one_fact_per_last_token(layers):
    spec = SPEC.model_copy(update={"layers": layers})
    task = rote.facts(FACTS)
    most = len(set(task.contexts[:, -1].tolist()))
    for engine in ("torch", "native"):
        trained = rote.train(task, spec, 2, steps=200, engine=engine)
        assert [round(model.accuracy * 9) for model in trained] == [most, most]


def test_a_folder_and_the_plain_exports_hold_it(tmp_path):
    best = rote.train_best(FACTS, SPEC, seeds=1, steps=30)
    best.save(tmp_path / "model")
    loaded = rote.load(tmp_path / "model").model
    contexts = torch.tensor([[0, 1], [2, 3]])
    assert torch.equal(loaded.logits(contexts), best.best.model.logits(contexts))
    exported = rote.export_model(tmp_path / "model", "torch", tmp_path / "torch")
    assert exported.certificate.recalled == best.certificate.recalled
    for target in ("llama", "gpt2", "gguf", "onnx", "transformerlens"):
        with pytest.raises(rote.RoteError, match="without attention heads"):
            rote.export_model(tmp_path / "model", target, tmp_path / target)


def test_there_are_no_heads_to_inspect_or_to_build():
    model = random_model(SPEC, 0)
    with pytest.raises(rote.InputError, match="no attention heads"):
        rote.inspect(model, ("a", "b"))
    with pytest.raises(rote.InputError, match="heads=0"):
        rote.build(FACTS, heads=0)
