"""Statements of Kajitsuka and Sato 2025: parameters that the constructions take, beside what counting says they must.

Parameters are weights and biases that are not zero. Everything is evaluated in exact arithmetic, on every sequence.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from rote.constructions.kajitsuka2025.sequence_to_sequence import random_sequences, sequence_facts
from rote.constructions.kajitsuka2025.transformer import Facts, Transformer, account, assemble
from rote.experiments.statements.encoders import Numbers
from rote.papers.kinds.statement_settings import Memorizer, PositionMemorizer
from rote.tasks.labelled_text import LabelledSequences, Tokenisation
from rote.tasks.labelled_text.sources import DEFINITIONS

CLASSES = 2
"""Labels of random sequences: one bit each."""
WORDS = 1000
"""Of definitions, that have a token; other words are spelled."""


def memorizer_numbers(cell: Memorizer, seed: int) -> Numbers:
    """What the Transformer of these sequences takes, and how many labels it gives back."""
    sequences, labels, tokens = _labelled(cell, seed)
    facts = Facts(sequences, labels, cell.context)
    made = assemble(facts, "lean", cell.bits, cell.mixing, cell.table, seed=seed)
    counted = account(made, labels)
    plain = None
    if cell.table or cell.mixing == "sum":
        plain = account(assemble(facts, "lean", cell.bits, codes=made.codes, seed=seed), labels).nonzeros
    parameters = counted.nonzeros + (len(made.codes.tokens) if cell.table else 0)
    return {
        "sequences": cell.sequences,
        "recalled": int((made.labels(sequences) == labels).sum()),
        "parameters": parameters,
        "parameters_of_Theorem_4.1": plain,
        "second_network": counted.nonzeros_after,
        "tokens": tokens,
        "width": counted.width,
        "depth": counted.depth,
        "longest_word": counted.largest_bits,
        "bits": counted.total_bits,
        "label_bits": counted.label_bits,
        "parameters_by_counting": math.sqrt(cell.sequences),
        "parameters_by_bits": None if cell.bits is None else counted.label_bits / cell.bits,
        "limit": cell.bits,
    }


def position_numbers(cell: PositionMemorizer, seed: int) -> Numbers:
    """A label at every position of random sequences of distinct tokens."""
    rng = np.random.default_rng(seed)
    vocab = 4 * cell.context
    sequences = np.stack([rng.permutation(vocab)[: cell.context] for _ in range(2 * cell.sequences)])
    # No two of the sequences are the same up to order: a Transformer without positions cannot tell such apart.
    _, first = np.unique(np.sort(sequences, axis=1), axis=0, return_index=True)
    sequences = sequences[np.sort(first)[: cell.sequences]]
    labels = rng.integers(CLASSES, size=sequences.shape)
    facts = sequence_facts(sequences, labels)
    made = assemble(facts, "lean", seed=seed)
    counted = account(made, facts.labels)
    positions = labels.size
    return {
        "positions": positions,
        "recalled": int((made.labels(facts.attended) == facts.labels).sum()),
        "recalled_by_hardmax": int((hardmax_labels(made, facts.attended) == facts.labels).sum()),
        "parameters": counted.nonzeros,
        "first_network": counted.nonzeros - counted.nonzeros_after,
        "second_network": counted.nonzeros_after,
        "bits": counted.total_bits,
        "label_bits": counted.label_bits,
        "parameters_by_counting": math.sqrt(positions / math.log(positions)),
        "width": counted.width,
    }


def hardmax_labels(made: Transformer, attended: np.ndarray) -> np.ndarray:
    """Labels with hardmax in place of softmax: queries and keys are zero, and tied scores share the weight."""
    values, index = np.unique(attended, return_inverse=True)
    codes = made.codes_of(values)[index.reshape(attended.shape)]
    scores = 0 * codes
    return made.labels(attended, attended.shape[1] * hardmax_average(scores, codes))


def hardmax_average(scores: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The exact mean of the values whose score is the largest of their row."""
    largest = scores == scores.max(1, keepdims=True)
    sums = np.where(largest, values, 0).sum(1)
    return np.array([Fraction(int(total), int(count)) for total, count in zip(sums, largest.sum(1), strict=True)])


def _labelled(cell: Memorizer, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Sequences of token values from 1 on, labels from 0 on, and how many tokens occur."""
    if cell.texts == "definitions":
        drawn = LabelledSequences.draw(Tokenisation(DEFINITIONS, 3, cell.context, WORDS), cell.sequences, seed)
        return drawn.sequences + 1, drawn.labels, len(drawn.tokens)
    tokens = max(16, cell.sequences // 4)
    sequences = random_sequences(cell.sequences, cell.context, tokens, seed)
    labels = np.random.default_rng([seed, 1]).integers(CLASSES, size=cell.sequences)
    return sequences, labels, tokens
