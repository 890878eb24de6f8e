"""The facts that a plan is for: a named source, a table that was dropped on the page, or none.

An address names a source by its name. Of a dropped table it carries the few sizes that theory needs and a fingerprint,
by which the server finds the table again while it is among the last few that it keeps in memory. No table is written
to disk. Without a table the facts are described by their number and that of their tokens.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from rote.errors import InputError
from rote.tasks import TaskShape, require_tokens
from rote.tasks.facts import facts, source_names
from rote.web.query import Query

FIRST = "countries"
"""Shown by default."""
NO_TABLE = "none"
"""Stands for a source's name when only sizes are given."""
MOST_TABLES = 4
"""Dropped tables that are kept in memory."""
MOST_FACTS = 10_000_000
"""Most facts that may be planned without a table."""
SHAPE = ("associations", "vocab_of_table", "context_of_table", "key_tokens", "last_tokens", "groups", "answers", "bits")
"""A table's sizes as an address names them; those of the model have their plain names."""


@dataclass(frozen=True)
class FactsChoice:
    """The facts that are planned for."""

    kind: Literal["source", "table", "none"]
    name: str
    """A named source, the name of a table that was dropped on the page, or `none`."""
    shape: TaskShape
    digest: str = ""
    """Of a dropped table's bytes."""

    @property
    def address(self) -> dict[str, Any]:
        """As parameters of an address."""
        if self.kind == "source":
            return {"facts": self.name}
        if self.kind == "none":
            return {"facts": self.name, "associations": self.shape.associations}
        shape = self.shape.model_dump()
        return {"table": self.name, "digest": self.digest, **{part: shape[_field(part)] for part in SHAPE}}


@dataclass(frozen=True)
class Dropped:
    """A table that was dropped on the page."""

    data: bytes


class Tables:
    """The last few tables that were dropped on the page, in memory."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Dropped] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, data: bytes, name: str, shape: TaskShape) -> FactsChoice:
        """Keep a table that was read, by the fingerprint of its bytes."""
        # The name is in the commands of a plan, so that the same bytes under another name are another table.
        digest = hashlib.sha256(name.encode() + b"\0" + data).hexdigest()[:16]
        with self._lock:
            self._kept[digest] = Dropped(data)
            self._kept.move_to_end(digest)
            while len(self._kept) > MOST_TABLES:
                self._kept.popitem(last=False)
        return FactsChoice("table", name, shape, digest)

    def table(self, digest: str) -> Dropped | None:
        """The table with this fingerprint, if it is still kept."""
        with self._lock:
            return self._kept.get(digest)


def chosen_facts(query: Query) -> FactsChoice:
    """The facts that an address describes; `countries` where it names none."""
    if "facts" not in query and "table" in query:
        return _dropped(query)
    name = query.text("facts") or FIRST
    if name == NO_TABLE:
        vocab, context = query.whole("vocab", 50, 2), query.whole("context", 2, 2)
        # As many as Theorem 1 guarantees the model whose sizes are given.
        guaranteed = query.whole("heads", 20) * query.whole("head_dim", 10) + query.whole("dim", 10)
        associations = query.whole("associations", min(guaranteed, vocab ** min(context, 64), MOST_FACTS))
        query.check()
        return without_table(vocab, context, associations)
    if name not in source_names():
        names = ", ".join(source_names())
        raise InputError(f"facts={name[:80]}: the page knows {names} by name; drop a file on it for your own")
    with _reading:  # so that a source that takes long is read once
        return _named(name)


def without_table(vocab: int, context: int, associations: int) -> FactsChoice:
    """This many facts, with every token at every position and answers drawn uniformly."""
    if associations > MOST_FACTS:
        raise InputError(f"associations is {associations:,}, but without a table the page counts to {MOST_FACTS:,}")
    if associations > vocab ** min(context, 64):
        raise InputError(
            f"associations is {associations:,}, but {vocab:,} tokens spell only {vocab**context:,} contexts of "
            f"{context}; ask for fewer facts, a larger vocabulary or a larger context"
        )
    shape = TaskShape(
        associations=associations,
        vocab=vocab,
        context=context,
        key_tokens=vocab,
        last_tokens=min(vocab, associations),
        answers=min(vocab, associations),
        bits=associations * math.log2(max(2, vocab)),
    )
    return FactsChoice("none", NO_TABLE, shape)


_reading = threading.Lock()


@lru_cache(maxsize=8)
def _named(name: str) -> FactsChoice:
    return FactsChoice("source", name, require_tokens(facts(name), "plans are for token tasks").shape)


def _dropped(query: Query) -> FactsChoice:
    name, digest = query.text("table")[:120], query.text("digest")[:64]
    sizes = {_field(part): query.whole(part, 1) for part in SHAPE if part != "bits"}
    bits = query.real("bits", 0.0)
    query.check()
    shape = TaskShape(**sizes, bits=bits)
    if shape.key_tokens ** min(shape.context, 60) < shape.associations or shape.last_tokens > shape.key_tokens:
        raise InputError("this address: its table has more facts than its tokens can spell")
    return FactsChoice("table", name, shape, digest)


def _field(part: str) -> str:
    return part.removesuffix("_of_table")
