"""The sequence encoder that meets every distribution exactly, in d >= N - 1 dimensions (Proposition 2).

log pi_t minus its mean lies in the N - 1 dimensions orthogonal to (1, ..., 1). W holds an orthonormal basis of them
(Helmert's) and E(t) the coordinates, so W E(t) = log pi_t up to a shift that a softmax does not see.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.dana2025.encoder import Encoder, centred_log


def helmert(vocab: int) -> Float[Tensor, "vocab less"]:
    """An orthonormal basis of what is orthogonal to (1, ..., 1): column j sets token j against those before it."""
    before = torch.arange(1, vocab, dtype=torch.float64)
    basis = torch.ones(vocab, vocab - 1, dtype=torch.float64).triu()
    basis[torch.arange(1, vocab), torch.arange(vocab - 1)] = -before
    return basis / (before * (before + 1)).sqrt()


def exact_encoder(truth: Float[Tensor, "contexts vocab"], dim: int, floor: float = 1e-12) -> Encoder:
    """W E(t) = log pi_t up to a shift, in dim >= vocab - 1 dimensions."""
    vocab = truth.shape[1]
    basis = helmert(vocab)
    spare = (0, dim - basis.shape[1])
    return Encoder(
        torch.nn.functional.pad(basis, spare),
        torch.nn.functional.pad(centred_log(truth, floor) @ basis, spare),
    )
