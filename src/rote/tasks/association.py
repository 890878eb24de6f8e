"""Association tasks: each context of tokens has one answer.

Notation: `facts` is the papers' T_0, `vocab` their N, `context` their S.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from rote.arguments import typed
from rote.errors import InputError, problems
from rote.tasks.origin import Origin, Reading
from rote.tasks.rows import distinct_rows
from rote.tasks.shape import TaskShape
from rote.tasks.task import canonical_ids, digest, entropy_bits
from rote.tasks.token_task import TokenTask
from rote.tasks.vocabulary import PAD, SEPARATOR, Vocabulary, token_ids


class Fact(NamedTuple):
    """One fact in words."""

    key: tuple[str, ...]
    answer: str

    def __str__(self) -> str:
        return f"{' '.join(token for token in self.key if token != PAD)} -> {self.answer}"


class SpelledFact(Fact):
    """One fact whose key is spelled in letters."""

    __slots__ = ()

    def __str__(self) -> str:
        letters = [" " if token == SEPARATOR else token for token in self.key if token != PAD]
        return f"{''.join(letters)} -> {self.answer}"


def in_words(key: tuple[str, ...], answer: str, reading: Reading) -> Fact:
    """A fact that is printed the way its key was read."""
    return (SpelledFact if reading.keys == "letters" else Fact)(key, answer)


@dataclass(frozen=True, eq=False, repr=False)
class AssociationTask(TokenTask):
    """Contexts (facts x context token ids) and one answer each; memorized when its logit is the strict maximum.

    >>> import rote
    >>> task = rote.AssociationTask.from_facts([(("capital", "France"), "Paris"), (("capital", "Japan"), "Tokyo")])
    >>> task.facts, task.vocab, task.context, task.ceiling, task.entropy_bits
    (2, 5, 2, 1.0, 2.0)
    """

    kind: ClassVar = "associations"
    rows_are: ClassVar = "facts"

    contexts: np.ndarray
    answers: np.ndarray
    vocabulary: Vocabulary
    origin: Origin = field(default_factory=Origin)

    def __post_init__(self) -> None:
        object.__setattr__(self, "contexts", token_ids(self.contexts, 2, len(self.vocabulary), "contexts"))
        object.__setattr__(self, "answers", token_ids(self.answers, 1, len(self.vocabulary), "answers"))
        wrong = []
        if len(self.contexts) != len(self.answers):
            wrong.append(f"{len(self.contexts)} contexts but {len(self.answers)} answers")
        if self.contexts.size == 0:
            wrong.append("there are no facts to store")
        if wrong:
            raise problems("association task", wrong)

    @classmethod
    @typed
    def from_facts(cls, facts: Sequence[tuple[Sequence[str], str]], origin: Origin | None = None) -> AssociationTask:
        """From readable facts; tokens are numbered in order of appearance, keys before answers."""
        if not facts:
            raise InputError("association task: there are no facts to store")
        lengths = sorted({len(key) for key, _ in facts})
        if len(lengths) != 1:
            raise InputError(f"association task: keys have {lengths[0]} to {lengths[-1]} tokens; pad them on the left")
        order: dict[str, int] = {}
        for key, _ in facts:
            for token in key:
                order.setdefault(token, len(order))
        for _, answer in facts:
            order.setdefault(answer, len(order))
        contexts = np.array([[order[token] for token in key] for key, _ in facts], dtype=np.int32)
        answers = np.array([order[answer] for _, answer in facts], dtype=np.int32)
        return cls(contexts, answers, Vocabulary(order), origin or Origin())

    def __getitem__(self, row: int) -> Fact:
        answer = self.vocabulary.tokens[int(self.answers[row])]
        return in_words(self.vocabulary.words(self.contexts[row]), answer, self.origin.reading)

    @property
    def used(self) -> np.ndarray:
        occurs = np.zeros(self.vocab, dtype=bool)
        occurs[self.contexts], occurs[self.answers] = True, True
        return np.flatnonzero(occurs)

    @cached_property
    def _key_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """First row of each distinct key, and for each row the number of its key."""
        return distinct_rows(self.contexts, self.vocab)

    @property
    def distinct_keys(self) -> int:
        return len(self._key_rows[0])

    def recalled_keys(self, missed: np.ndarray) -> int:
        """Distinct keys with a row that was not missed; rows that repeat a key count once."""
        return len(np.unique(np.delete(self._key_rows[1], missed))) if len(missed) else self.distinct_keys

    def answers_to_recall(self) -> np.ndarray:
        return self.answers

    def fact_in_words(self, row: int) -> str:
        return str(self[row])

    def facts_in_words(self) -> list[str]:
        """Every fact as people read it: `fact_in_words` of all rows, many times faster."""
        spelled = self.origin.reading.keys == "letters"
        shown = {PAD: "", SEPARATOR: " "} if spelled else {PAD: ""}
        words = [shown.get(token, token) for token in self.vocabulary.tokens]
        between = "" if spelled else " "
        keys = (between.join(filter(None, [words[token] for token in context])) for context in self.contexts.tolist())
        answers = self.vocabulary.words(self.answers)
        return [f"{key} -> {answer}" for key, answer in zip(keys, answers, strict=True)]

    def lines(self) -> Iterator[str]:
        """Key, tab, answer."""
        words = self.vocabulary.tokens
        for context, answer in zip(self.contexts.tolist(), self.answers.tolist(), strict=True):
            yield f"{' '.join(words[token] for token in context)}\t{words[answer]}\n"

    @cached_property
    def _majority(self) -> tuple[np.ndarray, np.ndarray]:
        """For each distinct key a row that carries its commonest answer, and how many rows carry it."""
        _, key = self._key_rows
        pairs, first, counts = np.unique(
            key.astype(np.int64) * self.vocab + self.answers, return_index=True, return_counts=True
        )
        # By key, then commonest answer first, then first appearance: the head of each key's run is its majority.
        order = np.lexsort((first, -counts, pairs // self.vocab))
        heads = order[np.unique(pairs[order] // self.vocab, return_index=True)[1]]
        return first[heads], counts[heads]

    @property
    def ceiling(self) -> float:
        """Best recall any model can reach: contradictory keys can be right only on their commonest answer."""
        return 1.0 if self.distinct_keys == self.facts else float(self._majority[1].sum()) / self.facts

    def majority(self) -> AssociationTask:
        """One fact per key, with its commonest answer, in order of appearance: what can be stored at all."""
        return self if self.distinct_keys == self.facts else self.take(np.sort(self._majority[0]))

    @cached_property
    def answer_entropy(self) -> float:
        """Entropy of the answers in bits per fact: what a code that knows only their frequencies would pay."""
        return entropy_bits(np.bincount(self.answers, minlength=self.vocab))

    @property
    def entropy_bits(self) -> float:
        """Bits in the answers of all distinct keys."""
        return self.answer_entropy * self.distinct_keys

    def _shape(self) -> TaskShape:
        return TaskShape(
            associations=self.distinct_keys,
            vocab=self.vocab,
            context=self.context,
            key_tokens=len(np.unique(self.contexts)),
            last_tokens=len(np.unique(self.contexts[:, -1])),
            groups=_position_groups(self.contexts, self.vocab),
            answers=len(np.unique(self.answers)),
            bits=self.entropy_bits,
        )

    def _fingerprint(self) -> str:
        tokens, ids = canonical_ids(self.vocabulary, self.used)
        rows = np.concatenate([ids[self.contexts], ids[self.answers][:, None]], 1)
        return digest("associations", tokens, [rows[np.lexsort(rows.T[::-1])]])

    def answering(self, answers: np.ndarray, vocabulary: Vocabulary) -> AssociationTask:
        """The same keys with other answers, in a vocabulary that may have further tokens."""
        other = replace(self, answers=answers, vocabulary=vocabulary)
        object.__setattr__(other, "_key_rows", self._key_rows)
        return other

    def take(self, rows: np.ndarray | slice) -> AssociationTask:
        return replace(self, contexts=self.contexts[rows], answers=self.answers[rows])

    def in_vocabulary(self, vocabulary: Vocabulary) -> AssociationTask:
        if vocabulary == self.vocabulary:
            return self
        places = self.vocabulary.places_in(vocabulary, self.used)
        return replace(self, contexts=places[self.contexts], answers=places[self.answers], vocabulary=vocabulary)

    def known_rows(self, vocabulary: Vocabulary) -> np.ndarray:
        known = self.vocabulary.known_to(vocabulary)
        return known[self.contexts].all(1) & known[self.answers]


def _position_groups(contexts: np.ndarray, vocab: int) -> int:
    """Connected components of positions, two being joined when a token occurs at both."""
    # Positions and tokens are the nodes of a graph, joined where a token occurs; a token that occurs nowhere is one
    # component more.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    positions = contexts.shape[1]
    places = np.unique(np.arange(positions) * vocab + contexts)
    tokens = places % vocab
    joined = coo_array((np.ones(len(places), np.int8), (places // vocab, positions + tokens)), [positions + vocab] * 2)
    groups = connected_components(joined.tocsr(), directed=False, return_labels=False)
    return groups - (vocab - len(np.unique(tokens)))
