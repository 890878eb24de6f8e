"""Facts in the MLP of a built model as one linear map: what editing and unlearning methods change is W_2 alone.

logits(i) = gain * W_U (r_i + W_2 f_i), f_i the neurons' outputs on key i and r_i the residual stream before the MLP.
All methods start from the same weights; none changes anything else, so that weights can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

import rote
from rote.constructions.madden2025.solve import key_features
from rote.tasks import AssociationTask

GAIN = 32.0
"""What logits are multiplied by, as in an exported checkpoint: stored answers are certain."""


def inverse_moment(keys: Tensor) -> Tensor:
    """C^-1, with a ridge of 1e-6 of C's mean diagonal so that it can be inverted."""
    moment = keys.T @ keys / len(keys)
    return torch.linalg.inv(moment + 1e-6 * moment.diagonal().mean() * torch.eye(len(moment), dtype=torch.float64))


@dataclass(frozen=True)
class MlpFacts:
    """A built model with its facts, and keys that it never stored."""

    streams: Tensor
    keys: Tensor
    unembed: Tensor
    answers: Tensor
    weights: Tensor
    """W_2."""
    other_streams: Tensor
    other_keys: Tensor
    """Of keys that were never stored."""
    duals: Tensor
    """Column i is orthogonal to the keys of all facts but i."""
    inverse_stored: Tensor
    inverse_other: Tensor
    """Inverse second moments of stored keys, and of keys that were never stored."""

    @classmethod
    def built(cls, facts: int, seed: int, per_fact: float = 2.0) -> MlpFacts:
        """A model of random facts over 30 x 30 keys and 60 answers."""
        rng = np.random.default_rng([seed, 7])
        pairs = np.stack(np.meshgrid(np.arange(30), np.arange(30, 60), indexing="ij"), -1).reshape(-1, 2)
        pairs = pairs[rng.permutation(len(pairs))]
        answers = rng.integers(0, 60, facts)
        vocabulary = rote.facts("random:vocab=60,context=2,facts=2,seed=0").vocabulary
        task = AssociationTask(pairs[:facts], answers, vocabulary)
        built = rote.build(task, "madden2025", seed=seed, spare=round(facts * (per_fact - 1)), keep_keys=False)
        weights, spec = built.model.weights, built.model.spec
        streams, keys = key_features(spec, weights, torch.from_numpy(pairs[:facts]).long())
        other = key_features(spec, weights, torch.from_numpy(pairs[facts:]).long())
        return cls(
            streams, keys, weights["unembed"].double(), torch.from_numpy(answers).long(),
            weights["layers.0.mlp_out"].double(), *other, torch.linalg.pinv(keys), inverse_moment(keys),
            inverse_moment(other[1]),
        )  # fmt: skip

    def logits(self, weights: Tensor, rows: Tensor | slice = slice(None)) -> Tensor:
        return GAIN * (self.streams[rows] + self.keys[rows] @ weights.T) @ self.unembed.T

    def losses(self, weights: Tensor, rows: Tensor | slice = slice(None), answers: Tensor | None = None) -> Tensor:
        """Cross-entropy of answers, per fact."""
        wanted = self.answers[rows] if answers is None else answers
        return functional.cross_entropy(self.logits(weights, rows), wanted, reduction="none")

    def right(self, weights: Tensor, answers: Tensor | None = None) -> Tensor:
        return self.logits(weights).argmax(1) == (self.answers if answers is None else answers)

    def solved(self, rows: Tensor, answers: Tensor) -> Tensor:
        """The exact W_2 of these facts from the same random initialization."""
        wanted = self.unembed[answers] - self.streams[rows]
        return torch.linalg.lstsq(self.keys[rows], wanted, driver="gelsd").solution.T

    def with_answers(self, answers: Tensor) -> MlpFacts:
        return replace(self, answers=answers)
