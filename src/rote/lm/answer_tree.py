"""The likeliest of a table's answers, exactly, without scoring them all.

Answers are paths in a tree of tokens, and no answer is likelier than any of its beginnings. So the likeliest path is
opened first, and an answer that stands at the top of the queue beats all that were never opened.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rote.errors import InputError


@dataclass
class Node:
    """A beginning that some answers share."""

    path: tuple[int, ...]
    children: dict[int, Node] = field(default_factory=dict)
    answer: int | None = None
    """The answer that ends here."""
    tokens: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def answer_tree(answers: Sequence[Sequence[int]]) -> Node:
    """The tree of these answers; two answers with the same tokens are rejected."""
    root = Node(())
    nodes = [root]
    for number, tokens in enumerate(answers):
        node = root
        for depth, token in enumerate(tokens):
            if token not in node.children:
                node.children[token] = Node(tuple(tokens[: depth + 1]))
                nodes.append(node.children[token])
            node = node.children[token]
        if node.answer is not None:
            raise InputError(f"answers {node.answer} and {number} of the table have the same tokens {list(tokens)}")
        node.answer = number
    for node in nodes:
        node.tokens = np.array(list(node.children), dtype=np.int64)
    return root


class Search:
    """The search for one prompt: `open` names the path to read next; where there is none, `best` is the answer.

    An answer whose log probability is known already (the right one) need not be opened: what is less likely than it
    is never looked at.
    """

    def __init__(self, root: Node, known: int, log_probability: float) -> None:
        self._queue: list[tuple[float, int, Node, np.ndarray, np.ndarray, int]] = []
        self._entries = 0
        self._known, self._reached = known, 0.0
        self.best, self.log_probability = known, log_probability
        self.open: Node | None = root

    def read(self, log_probabilities: np.ndarray) -> None:
        """Go on with the next-token log probabilities (over the vocabulary) after the open path."""
        if self.open is None:
            raise ValueError("the search has ended")
        tokens = self.open.tokens
        scores = self._reached + log_probabilities[tokens].astype(np.float64)
        order = np.argsort(-scores, kind="stable")
        self._push(self.open, tokens[order], scores[order], 0)
        self._advance()

    def _push(self, parent: Node, tokens: np.ndarray, scores: np.ndarray, child: int) -> None:
        """Queue a parent's child number `child`, likeliest first; the next one only when this one is taken."""
        if child < len(tokens) and scores[child] > self.log_probability:
            self._entries += 1
            heapq.heappush(self._queue, (-scores[child], self._entries, parent, tokens, scores, child))

    def _advance(self) -> None:
        self.open = None
        while self._queue:
            negative, _, parent, tokens, scores, child = heapq.heappop(self._queue)
            self._push(parent, tokens, scores, child + 1)
            node = parent.children[int(tokens[child])]
            if node.answer is not None and node.answer != self._known:
                # An answer may also begin longer ones, which are no likelier: the first to be taken is the best.
                self.best, self.log_probability = node.answer, float(-negative)
                self._queue.clear()
            elif node.children:
                self.open, self._reached = node, float(-negative)
                return
