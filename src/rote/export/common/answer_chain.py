"""Weights that write an answer's further words and its end: code vectors in dimensions of their own.

The input embedding of a word holds the code of the word that follows it, and nothing else; the unembedding of a word
has its own code. After a key those dimensions are zero, and the bias keeps these words from being written. After an
answer's first word the code outweighs whatever heads and MLPs make of the position: by how much is computed in float64
for every fact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from rote.constructions.common.random_attention.codes import answer_code
from rote.export.answer_words import AnswerWords
from rote.export.common.half_cache import within_half
from rote.export.common.normal_form import NormalForm, NormalLayer, normal_form
from rote.export.common.places import Pairs
from rote.export.subject import ExportSubject

MOST_DIMENSIONS = 24
CERTAIN = 64.0
"""Logits by which the next word wins at least."""
BATCH = 256


@dataclass(frozen=True)
class AnswerChain:
    """A normal form with the dimensions of the codes, and what has to be written into a checkpoint."""

    form: NormalForm
    """Tokens after the model's own are the words that are read back, in the order of `inputs`."""
    first: int
    """The first dimension of the codes."""
    inputs: tuple[int, ...]
    """Ids that are read back: first words, then further ones."""
    outputs: tuple[int | None, ...]
    """Ids of the words that follow; None is the end of text."""
    codes: Float[Tensor, "outputs q"]
    contexts: tuple[Tensor, ...]
    """Keys with one, two, ... words of their answers, as tokens of the form."""

    @property
    def largest_square(self) -> float:
        """Largest |x|^2 of the stream after an answer's words."""
        return max(self.form.run(rows).largest_square for rows in self._batches())

    def _batches(self) -> Iterator[Tensor]:
        for rows in self.contexts:
            yield from rows.split(BATCH)

    def embedded(self) -> dict[int, Float[Tensor, " D"]]:
        """The input embedding of every id that is read back."""
        vocab = len(self.form.tokens) - len(self.inputs)
        return {id: self.form.tokens[vocab + row] for row, id in enumerate(self.inputs)}

    def unembedded(self, gain: float, below: float, end: int) -> dict[int, Float[Tensor, " q"]]:
        """The unembedding of every id that follows a word, in the dimensions of the codes."""
        largest = max(float(self.form.run(rows).logits.abs().max()) for rows in self._batches())
        cosines = self.codes @ self.codes.T
        apart = 1 - float(cosines.fill_diagonal_(-1).max()) if len(cosines) > 1 else 2.0
        needed = (abs(below) + gain * largest + CERTAIN) * max(1.0, 2 / apart)
        size = 2.0 ** math.ceil(math.log2(needed))
        return {end if id is None else id: self.codes[row] * size for row, id in enumerate(self.outputs)}


def chained(subject: ExportSubject, pairs: Pairs | None) -> tuple[NormalForm, AnswerChain | None]:
    """The model in normal form, within reach of a cache in float16, and what follows an answer's words."""
    form = within_half(normal_form(subject.model), torch.from_numpy(subject.contexts))
    words = subject.answer_words(pairs)
    if words is None:
        return form, None
    chain = answer_chain(form, subject, words)
    return chain.form, chain


def answer_chain(form: NormalForm, subject: ExportSubject, words: AnswerWords) -> AnswerChain:
    """The form with answers that are read back, and the codes of what follows each."""
    ids = words.ids()
    inputs = [ids[answer][place] for answer in ids for place in range(len(ids[answer]))]
    following = {id: later for chain in ids.values() for id, later in zip(chain, (*chain[1:], None), strict=True)}
    outputs = tuple(dict.fromkeys(following.values()))
    dimensions = min(len(outputs), MOST_DIMENSIONS) if len(outputs) > 1 else 1
    codes = answer_code(len(outputs), dimensions, torch.Generator().manual_seed(0))
    row_of = {id: row for row, id in enumerate(outputs)}
    read = torch.zeros(len(inputs), form.dim + dimensions, dtype=torch.float64)
    for row, id in enumerate(inputs):
        read[row, form.dim :] = codes[row_of[following[id]]]
    place_of = {id: len(form.tokens) + row for row, id in enumerate(inputs)}
    return AnswerChain(
        _wider(form, dimensions, read, words.longest),
        form.dim,
        tuple(inputs),
        outputs,
        codes,
        tuple(_contexts(subject, ids, place_of, words.longest)),
    )


def _contexts(
    subject: ExportSubject, ids: dict[int, tuple[int, ...]], place_of: dict[int, int], longest: int
) -> Iterator[Tensor]:
    """Every key with so many words of its answer, where it has as many."""
    chains = [ids[answer] for answer in subject.task.answers.tolist()]
    for length in range(1, longest + 1):
        rows = [
            [*key, *(place_of[id] for id in chain[:length])]
            for key, chain in zip(subject.contexts.tolist(), chains, strict=True)
            if len(chain) >= length
        ]
        yield torch.tensor(rows)


def _wider(form: NormalForm, more: int, read: Tensor, longest: int) -> NormalForm:
    """The same function with more dimensions, more tokens and more positions."""

    def layer(old: NormalLayer) -> NormalLayer:
        mlp = old.mlp
        if mlp is not None:
            mlp = replace(mlp, inward=functional.pad(mlp.inward, (0, more)), outward=_below(mlp.outward, more))
        query, key, value = (functional.pad(matrix, (0, more)) for matrix in (old.query, old.key, old.value))
        return NormalLayer(query, key, value, _below(old.output, more), mlp)

    return replace(
        form,
        tokens=torch.cat([functional.pad(form.tokens, (0, more)), read]),
        positions=functional.pad(form.positions, (0, more, 0, longest)),
        layers=tuple(map(layer, form.layers)),
        unembed=functional.pad(form.unembed, (0, more)),
    )


def _below(matrix: Tensor, rows: int) -> Tensor:
    return functional.pad(matrix, (0, 0, 0, rows))
