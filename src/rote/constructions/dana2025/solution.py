"""What both solves of Theorem 1 share: answers as right-hand sides before, the model's weights after."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.random_attention.absorbed_skip import SkipBasis, output_maps, value_part
from rote.constructions.common.random_attention.codes import answer_code, targets
from rote.constructions.common.random_attention.draw import Embeddings, Heads, model_weights
from rote.constructions.common.random_attention.features import Differences
from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.tasks import PAD, AssociationTask


@dataclass(frozen=True)
class Attempt:
    """Outcome of one sample of attention: weights, or none with the reason in `measured`."""

    weights: dict[str, Tensor] | None
    measured: dict[str, Any]
    choices: dict[str, Any] = field(default_factory=dict)
    """What the sample chose beyond its tensors, so that other facts can be solved for with the same sample."""


class Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] = round(self.seconds.get(phase, 0.0) + now - self._since, 3)
        self._since = now


@dataclass(frozen=True)
class Wanted:
    """Several answer codes and what each asks the residual stream to be."""

    answers: Integer[Tensor, " answers"]
    """Ids of the tokens that are answers; all others get a logit of zero."""
    codes: list[Float[Tensor, "answers dim"]]
    right: Float[Tensor, "facts columns"]
    """Right-hand sides of all codes, side by side."""

    @classmethod
    def draw(cls, task: AssociationTask, dim: int, count: int, seed: int, every_token: bool = False) -> Wanted:
        """Codes of the answers of these facts. Which answer belongs to which fact has no say in what is drawn.

        With `every_token` all tokens that occur in no key have a code as well, so that codes do not tell whether one of
        them is an answer.
        """
        generator = torch.Generator().manual_seed(seed)
        answers, index = torch.unique(torch.from_numpy(task.answers).long(), return_inverse=True)
        if every_token:
            tokens = np.union1d(np.setdiff1d(np.arange(task.vocab), task.contexts), task.answers)
            index = torch.from_numpy(np.searchsorted(tokens, task.answers))
            answers = torch.from_numpy(tokens).long()
        code = answer_code(len(answers), dim, generator)
        # The same points given to other answers ask for something else, and points are costly to push apart.
        others = [code[torch.randperm(len(code), generator=generator)] for _ in range(count - 1)]
        codes = [code, *others]
        return cls(answers, codes, torch.cat([targets(code, index, generator) for code in codes], 1))

    def of(self, rows: Integer[Tensor, " rows"], code: int) -> Wanted:
        """The same for some of the facts and one of the codes."""
        return Wanted(self.answers, [self.codes[code]], self.right[rows][:, self.columns(code)])

    def columns(self, number: int) -> slice:
        """Columns of one code's right-hand side."""
        dim = self.codes[0].shape[1]
        return slice(number * dim, (number + 1) * dim)


class TooFewHeads(InputError):
    """Fewer heads than the features of these contexts need, and how many they do need."""

    def __init__(self, message: str, heads: int) -> None:
        super().__init__(message)
        self.heads = heads


def padding(task: AssociationTask) -> int | None:
    """Id of the token that fills short keys on the left, where one does."""
    return task.vocabulary.index.get(PAD)


def usable_width(differences: Differences, skip: SkipBasis, spec: AttentionOnly) -> int:
    """Features of a head that can be independent on these contexts; too few in all is the user's to mend."""
    width = min(spec.head_dim, differences.rank())
    available = skip.columns + spec.heads * width
    if available < differences.facts:
        needed = -(-(differences.facts - skip.columns) // width)
        raise TooFewHeads(
            f"dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: cannot hold {differences.facts:,} facts. "
            f"The features of these contexts have rank {skip.columns} (last tokens) + {spec.heads} x {width} (what a "
            f"head can tell apart) = {available}; give `heads={needed}` or more",
            needed,
        )
    return width


def best_code(
    skip_rows: Float[Tensor, "skip columns"],
    head_rows: Float[Tensor, "features columns"],
    skip: SkipBasis,
    heads: Heads,
    width: int,
    wanted: Wanted,
) -> int:
    """The code whose skip map is best conditioned; solutions that are not yet refined are near enough to tell."""
    number = len(head_rows) // width
    conditions = []
    for code in range(len(wanted.codes)):
        columns = wanted.columns(code)
        part = head_rows[:, columns].reshape(number, width, skip.dim)
        conditions.append(torch.linalg.cond(skip.skip_map(skip_rows[:, columns], value_part(heads, part))))
    return int(torch.stack(conditions).nan_to_num(nan=float("inf")).argmin())


def finish(
    spec: AttentionOnly,
    embeddings: Embeddings,
    heads: Heads,
    skip: SkipBasis,
    skip_rows: Float[Tensor, "skip dim"],
    head_rows: Float[Tensor, "features dim"],
    width: int,
    wanted: Wanted,
    code: int,
) -> tuple[dict[str, Tensor], float]:
    """The model's weights in the dtype that is saved, and the condition number of its skip map."""
    solved = head_rows.reshape(len(head_rows) // width, width, spec.dim)
    skip_map = skip.skip_map(skip_rows, value_part(heads, solved))
    unembed = torch.zeros(spec.vocab, spec.dim, dtype=torch.float64)
    unembed[wanted.answers] = wanted.codes[code] @ skip_map.T
    output = output_maps((spec.heads, spec.dim, spec.head_dim), solved, skip_map)
    return model_weights(embeddings, heads, output, unembed), float(torch.linalg.cond(skip_map))
