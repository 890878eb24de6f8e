"""Initial weights of the released experiments of Dana et al. 2025.

Embeddings, unembedding and positions are uniform in +-1/sqrt(their dimension). Each head is initialized as a standard
multi-head attention with one sub-head: query, key and value as one Xavier-uniform matrix of 3k rows, the output uniform
in +-1/sqrt(k). Compression, decompression and the MLP are linear layers, uniform in +-1/sqrt(inputs).
"""

from __future__ import annotations

import math
import zlib

import numpy as np
import torch
from torch import Tensor

from rote.errors import InputError, problems
from rote.models import Spec, Transformer


def trainable(spec: Spec) -> Transformer:
    if isinstance(spec, Transformer):
        return spec
    raise InputError(
        f"{spec.architecture} models are built, not trained; train an attention-only model or an mlp-transformer"
    )


def generator(seed: int, purpose: str) -> np.random.Generator:
    """An independent stream of random numbers per seed and purpose."""
    if not 0 <= seed < 2**63:
        raise InputError(f"`seed={seed}`: must be at least 0 and less than 2^63")
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def initial_weights(spec: Transformer, seed: int) -> np.ndarray:
    """All parameters as one float32 vector, in the order of `spec.shapes()`."""
    rng = generator(seed, "initial weights")
    parts = []
    for name, shape in spec.shapes().items():
        bound = _bound(spec, name.rsplit(".", 1)[-1], shape)
        parts.append(rng.uniform(-bound, bound, math.prod(shape)))
    return np.concatenate(parts).astype(np.float32)


def _bound(spec: Transformer, kind: str, shape: tuple[int, ...]) -> float:
    if kind in ("query", "key", "value"):
        return math.sqrt(6 / (shape[-1] + 3 * spec.head_dim))
    if kind == "mlp_bias":
        return 1 / math.sqrt(spec.dim)
    return 1 / math.sqrt(max(1, shape[-1]))


def flattened(spec: Transformer, weights: dict[str, Tensor]) -> np.ndarray:
    """Given weights (a warm start) as one float32 vector; an error names every mismatch."""
    from rote.models.model import misfits

    if wrong := misfits(spec, weights):
        raise problems("initial weights", wrong)
    return np.concatenate([weights[name].detach().cpu().double().reshape(-1).numpy() for name in spec.shapes()]).astype(
        np.float32
    )


def unflattened(spec: Transformer, flat: np.ndarray) -> dict[str, Tensor]:
    """The tensors of one vector of parameters."""
    weights, start = {}, 0
    for name, shape in spec.shapes().items():
        size = math.prod(shape)
        weights[name] = torch.from_numpy(flat[start : start + size].reshape(shape).copy())
        start += size
    return weights
