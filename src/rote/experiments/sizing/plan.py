"""The plan of given facts: the complete folder of each method's model, beside what else one would use.

A row with a method gives the bytes of its folder, of its weights, and its parameters; an estimate is marked as one.
What is not a model counts its words too. Results without a construction have rows without bytes.

What else one would use to store a table of facts: each measured, counted, or sized by a published figure.

Every size includes the words that the answers need, so that it compares with a complete model folder.
"""

from __future__ import annotations

import csv
import io
import lzma
import math
import sqlite3
from collections.abc import Sequence
from typing import get_args

from rote.arguments import typed
from rote.charts import BarChart
from rote.charts.plotting import Plotted
from rote.display import Records
from rote.errors import InputError
from rote.experiments.sizing.charts import plan_chart
from rote.experiments.sizing.folder_sizes import FolderSizes
from rote.experiments.sizing.row import BITS, PlanRow, Section
from rote.experiments.sizing.theory import counting_row, theory_rows
from rote.experiments.storage import entropy_bits, zipped_bytes
from rote.folders.layout import vocabulary_bytes
from rote.models.spec import Dtype
from rote.progress import SILENT, Progress
from rote.tasks import PAD, SEPARATOR, AssociationTask, TokenTask, Vocabulary, require_tokens
from rote.tasks.facts import Facts, facts
from rote.tasks.unknown import require_unknown_keys

RETRIEVAL_OVERHEAD = 1.005
"""Bits of a static function per bit of its values, as its authors state (0.1 to 0.5 % over): bumped ribbon retrieval,
Dillinger, Huebschle-Schneider, Sanders and Walzer 2022."""
NODE_BITS = 4
"""Bits of a node of the trie besides its letters: its shape (two, LOUDS), whether a key ends and if letters follow."""


def alternatives(task: TokenTask, words: int, keys: int) -> list[PlanRow]:
    """Rows of storage without a model; `words` and `keys` are the bytes of those files of a model folder."""
    pairs = facts_as_text(task)
    text = csv_text(pairs)
    rows = [
        _row("entropy", math.ceil(entropy_bits(task.shape) / 8) + words, "keys and answers at their entropy",
             "counted: a random set of keys, answers at their entropy, all words"),
        _row("sqlite", sqlite_bytes(pairs), "SQLite table", "measured: WITHOUT ROWID, keyed by the key, vacuumed"),
        _row("xz", len(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME)), "xz of the CSV", "measured: preset 9e"),
        _row("zip", zipped_bytes(text), "zip of the CSV", "measured: deflate, level 9"),
    ]  # fmt: skip
    if isinstance(task, AssociationTask):
        answers = len(vocabulary_bytes(Vocabulary(dict.fromkeys(answer for _, answer in pairs))))
        width = max(1, (task.shape.answers - 1).bit_length())
        function = math.ceil(RETRIEVAL_OVERHEAD * task.distinct_keys * width / 8)
        rows += [
            _row("retrieval", function + keys + answers, "static function, stored keys, answers",
                 f"bumped ribbon retrieval (Dillinger et al. 2022), {RETRIEVAL_OVERHEAD} x {width} bits per key"),
            _row("trie", trie_bytes([key for key, _ in pairs], width) + answers, "trie of the keys, answers",
                 f"counted: Patricia trie, {NODE_BITS} bits per node and its letters, {width} bits per key"),
        ]  # fmt: skip
    return rows


def facts_as_text(task: TokenTask) -> list[tuple[str, str]]:
    """Keys and answers as they stood in the table; cells of a key are divided by tabs. One answer per key."""
    facts = task.majority() if isinstance(task, AssociationTask) else task.likeliest()  # pyright: ignore[reportAttributeAccessIssue]
    tokens, reading = facts.vocabulary.tokens, facts.origin.reading.keys
    between = {"letters": "", "spaces": " "}.get(reading or "", "\t")
    keys = (
        between.join("\t" if token == SEPARATOR else token for token in map(tokens.__getitem__, row) if token != PAD)
        for row in facts.contexts.tolist()
    )
    return [(key, tokens[answer]) for key, answer in zip(keys, facts.answers.tolist(), strict=True)]


def csv_text(pairs: list[tuple[str, str]]) -> bytes:
    """The facts as a CSV file without a header."""
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\n").writerows([*key.split("\t"), answer] for key, answer in pairs)
    return sink.getvalue().encode("utf-8", "surrogatepass")


def sqlite_bytes(pairs: list[tuple[str, str]]) -> int:
    """Bytes of a SQLite database with one table, keyed by the cells of the key."""
    cells = [(*key.split("\t"), answer) for key, answer in pairs]
    width = max(map(len, cells))
    names = [f"c{column}" for column in range(width)]
    connection = sqlite3.connect(":memory:")
    try:
        columns, key = ", ".join(names), ", ".join(names[:-1])
        connection.execute(f"CREATE TABLE facts ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID")
        rows = sorted((*[""] * (width - len(row)), *row) for row in cells)
        connection.executemany(f"INSERT OR IGNORE INTO facts VALUES ({', '.join('?' * width)})", rows)
        connection.commit()
        connection.execute("VACUUM")
        return len(connection.serialize())
    finally:
        connection.close()


def trie_bytes(keys: list[str], value_bits: int) -> int:
    """Bytes of a Patricia trie: letters of every edge, one byte to end those of several, nodes, one value per key."""
    spelled = sorted({key.encode("utf-8", "surrogatepass") for key in keys})
    letters = sum(len(key) - shared for key, shared in zip(spelled, _shared(spelled), strict=True))
    edges = _edges(spelled)
    several = sum(end - start > 1 for start, end in edges)
    return letters + several + -(-(NODE_BITS * (len(edges) + 1) + value_bits * len(spelled)) // 8)


def _shared(spelled: list[bytes]) -> list[int]:
    """Letters that each key has in common with the one before it in order."""
    return [
        next((at for at, (one, other) in enumerate(zip(before, key, strict=False)) if one != other), len(before))
        for before, key in zip([b"", *spelled], spelled, strict=False)
    ]


def _edges(spelled: list[bytes]) -> list[tuple[int, int]]:
    """Edges of the trie of sorted keys, as the depths at which they start and end."""
    edges: list[tuple[int, int]] = []
    path = [0]
    for key, shared in zip([*spelled, b""], [*_shared(spelled), 0], strict=True):
        end = path[-1]
        while path[-1] > shared:
            end = path.pop()
            edges.append((max(path[-1], shared), end))
        if path[-1] < shared:
            path.append(shared)
        if len(key) > shared:
            path.append(len(key))
    return edges


def _row(id: str, size: int, model: str, reason: str) -> PlanRow:
    return PlanRow(
        id=id, kind="exact", section="no model", possible=True, model=model, bytes=size, reason=reason, source=reason
    )


SHOWN = ("id", "section", "bytes", "weights", "parameters", "model", "reason")
"""Columns of a plan when it is shown as a table."""


class Plan(Records[PlanRow], Plotted):
    """Rows of a plan, one per way to store the facts."""

    def chart(self) -> BarChart:
        """Bytes of every way to hold the facts that was sized, fewest first."""
        return plan_chart(self, "bytes of every way to hold the facts")


@typed
def plan(
    task: Facts,
    *,
    dtype: Dtype | None = None,
    everything: bool = False,
    by_formula: bool = False,
    progress: Progress = SILENT,
) -> Plan:
    """Every way to store the facts, section by section, fewest bytes of the complete folder first.

    Default of `dtype`: each method's own. Where the size is known only after building, the row is an estimate. The
    smallest are built while that takes a second or two, and all of them with `everything`. With `by_formula` no method
    is sized: the rows are what results say of the smallest model, and storage without a model; torch is not needed.

    >>> import rote
    >>> rows = rote.plan("random:vocab=12,context=2,facts=40,seed=1")
    >>> rows.frame().columns[0], len(rows) > 5
    ('id', True)
    """
    why = "plans are for token tasks; for vectors see the bound mahdavi2024.theorem1"
    task = require_tokens(facts(task), why)
    require_unknown_keys(task)
    if everything and by_formula:
        raise InputError("`everything` builds every method, `by_formula` none; give one of them")
    if by_formula:
        return plan_rows(task, dtype, None)
    from rote.experiments.sizing.built import built_rows

    return plan_rows(task, dtype, built_rows(task, dtype, everything, progress))


def plan_rows(task: TokenTask, dtype: str | None, built: Sequence[PlanRow] | None) -> Plan:
    """The rows of builds, of theory and of storage without a model, in order; without builds, those of all results."""
    sizes = FolderSizes(task)
    without = [counting_row(task.shape, BITS[dtype or "float32"]), *alternatives(task, sizes.words, sizes.keys)]
    results = theory_rows(task.shape, type(task), met=built is None)
    return Plan(sorted([*without, *(built or ()), *results], key=_place), SHOWN)


def _place(row: PlanRow) -> tuple[int, float, int, str]:
    unsized = math.inf if row.bytes is None else row.bytes
    return get_args(Section).index(row.section), unsized, row.parameters or 0, row.id
