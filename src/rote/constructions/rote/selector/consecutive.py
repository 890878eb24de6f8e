"""Orders of elements in which every given set is consecutive (the consecutive-ones property), by a PQ-tree.

A PQ-tree stands for all orders that keep the sets seen so far together: the children of a P-node may be permuted, those
of a Q-node only reversed. Each set narrows it to the orders in which that set is consecutive too, or shows that there
is none (Booth and Lueker 1976; here each step walks the whole tree, which is linear in the elements).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

EMPTY, PARTIAL, FULL = 0, 1, 2
"""How much of a node's elements are in the set at hand: none, some, all."""


@dataclass(frozen=True)
class _Node:
    """A leaf (an element), or a node with two children or more."""

    children: tuple[_Node, ...] = ()
    element: int = -1
    ordered: bool = False
    """A Q-node: its children may be reversed, but not permuted."""


class _NoOrder(Exception):
    """No order of the tree keeps the set together."""


def consecutive_order(elements: int, sets: Iterable[Sequence[int]]) -> list[int] | None:
    """An order of 0 .. elements - 1 in which each set is consecutive, or None where there is none.

    >>> consecutive_order(4, [(0, 2), (2, 3)])
    [1, 0, 2, 3]
    >>> consecutive_order(4, [(0, 1), (0, 2), (0, 3)]) is None
    True
    """
    tree = _group([_Node(element=element) for element in range(elements)])
    try:
        for together in sorted({frozenset(given) for given in sets}, key=lambda given: (len(given), sorted(given))):
            if 1 < len(together) < elements:
                tree = _Reduction(together).root(tree)
    except (_NoOrder, RecursionError):  # a tree deeper than Python's stack is as good as none
        return None
    return _frontier(tree)


class _Reduction:
    """One set, and how much of it each node holds."""

    def __init__(self, together: frozenset[int]) -> None:
        self.together = together
        self.seen: dict[int, int] = {}

    def label(self, node: _Node) -> int:
        if not node.children:
            return FULL if node.element in self.together else EMPTY
        known = self.seen.get(id(node))
        if known is None:
            labels = {self.label(child) for child in node.children}
            known = self.seen[id(node)] = labels.pop() if len(labels) == 1 else PARTIAL
        return known

    def root(self, node: _Node) -> _Node:
        """The node, in which the set is consecutive somewhere."""
        touched = [child for child in node.children if self.label(child) != EMPTY]
        if len(touched) == 1 and self.label(touched[0]) == PARTIAL:
            changed = self.root(touched[0])
            return _Node(
                tuple(changed if child is touched[0] else child for child in node.children), ordered=node.ordered
            )
        if node.ordered:
            return _Node(tuple(self._inside(node.children)), ordered=True)
        empty, partial, full = self._split(node)
        if len(partial) > 2:
            raise _NoOrder
        middle = [_group(full)] if full else []
        if partial:
            right = self.to_the_right(partial[1])[::-1] if len(partial) == 2 else []
            middle = [_Node((*self.to_the_right(partial[0]), *middle, *right), ordered=True)]
        return _group([*empty, *middle])

    def to_the_right(self, node: _Node) -> list[_Node]:
        """The children of a Q-node in place of a partial node: what is outside the set first, what is in it last."""
        if node.ordered:
            children = (
                node.children if self.label(node.children[0]) <= self.label(node.children[-1]) else node.children[::-1]
            )
            return self._rising(children)
        empty, partial, full = self._split(node)
        if len(partial) > 1:
            raise _NoOrder
        middle = self.to_the_right(partial[0]) if partial else []
        return [*([_group(empty)] if empty else []), *middle, *([_group(full)] if full else [])]

    def _split(self, node: _Node) -> tuple[list[_Node], list[_Node], list[_Node]]:
        by_label: tuple[list[_Node], list[_Node], list[_Node]] = ([], [], [])
        for child in node.children:
            by_label[self.label(child)].append(child)
        return by_label

    def _rising(self, children: Sequence[_Node]) -> list[_Node]:
        labels = [self.label(child) for child in children]
        if labels != sorted(labels) or labels.count(PARTIAL) > 1:
            raise _NoOrder
        return [
            part for child, label in zip(children, labels, strict=True)
            for part in (self.to_the_right(child) if label == PARTIAL else [child])
        ]  # fmt: skip

    def _inside(self, children: Sequence[_Node]) -> list[_Node]:
        """Children of a Q-node, the set consecutive among them: outside, at most one partial, inside, again outside."""
        labels = [self.label(child) for child in children]
        first = next(place for place, label in enumerate(labels) if label != EMPTY)
        peak = labels.index(FULL) if FULL in labels else first + 1
        rising, falling = children[:peak], children[peak:]
        return [*self._rising(rising), *self._rising(falling[::-1])[::-1]] if falling else self._rising(rising)


def _group(nodes: Sequence[_Node]) -> _Node:
    return nodes[0] if len(nodes) == 1 else _Node(tuple(nodes))


def _frontier(tree: _Node) -> list[int]:
    order, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if node.children:
            waiting.extend(reversed(node.children))
        else:
            order.append(node.element)
    return order
