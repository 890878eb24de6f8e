"""A model folder read for one question, without a tensor library: attention-only and memory Transformers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rote.folders.layout import (
    CERTIFICATE,
    VOCABULARY,
    WEIGHTS,
    key_reader,
    opened_model,
    read_config,
    read_vocabulary,
    refuse_larger,
)
from rote.folders.tensors import DTYPES, TensorFile
from rote.folders.unpacked import PLACES, unpacked_arrays
from rote.models import AttentionOnly, MemoryTransformer, few_memory, few_questions
from rote.tasks.key_reader import KeyReader
from rote.tasks.vocabulary import Vocabulary


@dataclass(frozen=True)
class QuickModel:
    """Arrays that fit a specification, and how keys are read."""

    spec: AttentionOnly | MemoryTransformer
    weights: dict[str, np.ndarray]
    vocabulary: Vocabulary
    reader: KeyReader

    def logits(self, inputs: np.ndarray) -> np.ndarray:
        if isinstance(self.spec, MemoryTransformer):
            return few_memory.few_logits(self.spec, self.weights, inputs)
        return few_questions.few_logits(self.spec, self.weights, inputs)


def read_quick(path: str | Path) -> QuickModel | None:
    """The model of a folder; none where `read_folder` is needed to run it, or to say what is wrong with it."""
    with opened_model(path) as folder:
        config, spec = read_config(folder)
        if not isinstance(spec, AttentionOnly | MemoryTransformer) or config.dtype not in ("float32", "float64"):
            return None
        if folder.has(CERTIFICATE) and not isinstance(folder.json(CERTIFICATE), dict):
            return None
        file = TensorFile.of(folder, WEIGHTS)
        is_packed = PLACES in file.entries
        refuse_larger(spec, file, is_packed)
        if is_packed:
            arrays = unpacked_arrays(file.numpy(), spec.shapes(), file.where)
        elif {(name, tuple(entry.shape)) for name, entry in file.entries.items()} != set(spec.shapes().items()) or any(
            DTYPES[entry.dtype][0] != config.dtype for entry in file.entries.values()
        ):
            return None
        else:
            arrays = file.numpy()
        vocabulary = read_vocabulary(folder, VOCABULARY)
        if vocabulary is None or len(vocabulary) != spec.vocab:
            return None
        reader = key_reader(folder, config, spec, vocabulary)
        weights = {name: array.astype(config.dtype, copy=False) for name, array in arrays.items()}
        return None if reader is None else QuickModel(spec, weights, vocabulary, reader)
