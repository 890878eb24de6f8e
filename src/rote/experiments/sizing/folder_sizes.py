"""Bytes of the complete folder of a model that has not been built: weights, words, keys, configuration, certificate."""

from __future__ import annotations

import json
import math
from functools import cached_property
from typing import Any

import safetensors.numpy

from rote.constructions.choice import FLOAT_BYTES, INDEX_BYTES, ExpectedSize
from rote.folders.layout import FORMAT, FolderConfig, config_bytes, versions, vocabulary_bytes
from rote.models.spec import size_of
from rote.tasks import TokenTask
from rote.tasks.key_reader import KeyReader

CERTIFICATE_BYTES = 650
"""Bytes of a certificate: 416 to 868 were seen."""
PACKED_HEADER = 152
"""Bytes of a file of packed weights besides its two streams."""


class FolderSizes:
    """Sizes of the files that are the same for every model of a task, and of complete folders."""

    def __init__(self, task: TokenTask) -> None:
        self._task = task

    @cached_property
    def words(self) -> int:
        return len(vocabulary_bytes(self._task.vocabulary))

    @cached_property
    def _stored(self) -> Any:
        return KeyReader.of(self._task).stored

    @cached_property
    def keys(self) -> int:
        return len(safetensors.numpy.save(self._stored.data))

    def complete(self, size: ExpectedSize, dtype: str, provenance: dict[str, Any]) -> int:
        """Bytes of the complete folder; exact but for the certificate, where the size of the weights is."""
        exact = "float32" if dtype == "auto" else dtype
        config = FolderConfig(
            format=FORMAT,
            spec={} if size.spec is None else size.spec.to_config(),
            dtype=exact,  # pyright: ignore[reportArgumentType]
            facts=self._task.origin,
            provenance=provenance,
            versions=versions(),
            stored_keys=self._stored.sizes,
        )
        header = _tensor_header(size, exact)
        return size.weights + header + self.words + self.keys + len(config_bytes(config)) + CERTIFICATE_BYTES


def _tensor_header(size: ExpectedSize, dtype: str) -> int:
    """Bytes of the file of weights besides the weights; fewer than they take as numbers are packed ones."""
    if size.spec is None:
        return PACKED_HEADER
    floats, integers = size.spec.shapes(), size.spec.index_shapes()
    packed = size.weights < FLOAT_BYTES[dtype] * size_of(floats) + INDEX_BYTES * size_of(integers)
    return PACKED_HEADER if packed else header_bytes(floats, integers, dtype)


def header_bytes(floats: dict[str, tuple[int, ...]], integers: dict[str, tuple[int, ...]], dtype: str) -> int:
    """Bytes of a safetensors file besides its tensors: its length, and names, dtypes, shapes and places in JSON."""
    name, width = {"float64": ("F64", 8), "float32": ("F32", 4), "float16": ("F16", 2), "bfloat16": ("BF16", 2)}[dtype]
    entries, at = {}, 0
    tensors = [(key, shape, "I64", INDEX_BYTES) for key, shape in integers.items()]
    tensors += [(key, shape, name, width) for key, shape in floats.items()]
    # Wide numbers come first in the file, then names in order.
    for key, shape, kind, size in sorted(tensors, key=lambda tensor: (-tensor[3], tensor[0])):
        end = at + size * math.prod(shape)
        entries[key] = {"dtype": kind, "shape": list(shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    return 8 + -(-len(text) // 8) * 8
