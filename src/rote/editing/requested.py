"""Changes as a user gives them: a table, a mapping, or a few written one by one; checked against the facts of a model.

A table has the key columns of the facts, the answer, and a column `change` with set, add or forget in each row. Without
that column a row sets the answer of a key that is stored, and adds one that is not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from rote.errors import InputError, nearest, problems
from rote.files import TABLE, read_regular
from rote.tasks.association import AssociationTask
from rote.tasks.cells import cell_text
from rote.tasks.change import Change, Forget
from rote.tasks.changes import rows_by_key
from rote.tasks.facts import Frame
from rote.tasks.key_reader import KeyReader
from rote.tasks.origin import Reading
from rote.tasks.readers.formats import table_in
from rote.tasks.readers.frame import table_of
from rote.tasks.table import Table

Kind = Literal["set", "add", "forget", "store"]
"""`store` is set or add, whichever fits."""
KINDS = ("set", "add", "forget")
CHANGE = "change"
"""The column that says what to do with a row."""

Changes: TypeAlias = Annotated[
    str | os.PathLike[str] | Frame | Mapping[Any, Any] | list[Any] | tuple[Any, ...],
    "a path, a DataFrame, a mapping of keys to answers (None forgets), or a list of ('set', key, answer), "
    "('add', key, answer) and ('forget', key)",
]


class Asked(NamedTuple):
    """One change before it is checked."""

    kind: Kind
    key: tuple[str, ...]
    answer: str | None
    where: str
    """Names it in messages."""


def asked(changes: Changes, task: AssociationTask) -> list[Asked]:
    """The changes in a table, a mapping or a list."""
    if isinstance(changes, str | os.PathLike):
        path = Path(changes)
        if not path.is_file():
            raise InputError(f"{changes}: there is no such table of changes; check the path (now in {Path.cwd()})")
        return list(_rows(table_in(read_regular(path.resolve(), TABLE), path.name, str(changes), Reading()), task))
    if isinstance(changes, Frame):
        return list(_rows(table_of(changes, "DataFrame"), task))
    if isinstance(changes, Mapping):
        items = [("forget", key) if answer is None else ("store", key, answer) for key, answer in changes.items()]
        return [_written(number, item) for number, item in enumerate(items, 1)]
    return [_written(number, item) for number, item in enumerate(changes, 1)]


def _written(number: int, item: Any) -> Asked:
    where = f"change {number}"
    kind = item[0] if isinstance(item, tuple | list) and item else None
    if kind not in (*KINDS, "store") or len(item) != (2 if kind == "forget" else 3):
        raise InputError(f"{where} is {item!r:.60}; give ('set', key, answer), ('add', key, answer) or ('forget', key)")
    key = item[1] if isinstance(item[1], tuple | list) else (item[1],)
    cells = (*key, *item[2:])
    texts = [cell_text(cell) for cell in cells]
    if wrong := [cell for cell, text in zip(cells, texts, strict=True) if text is None]:
        raise InputError(f"{where} holds {wrong[0]!r:.60}, not text, a number, a date or a time")
    taken = [text or "" for text in texts]
    return Asked(kind, tuple(taken[: len(key)]), None if kind == "forget" else taken[-1].strip(), where)


def _rows(table: Table, task: AssociationTask) -> Iterator[Asked]:
    """The changes of a table, one per row."""
    names = [name for name in table.columns if name != CHANGE]
    columns, answer = task.origin.key_columns, task.origin.answer_column
    if not columns or not set(columns) <= set(names):
        cells = len(columns) or task.context
        if columns and not table.headerless and len(names) != cells + 1:
            missing = next(name for name in columns if name not in names)
            raise InputError(
                f"{table.where}: there is no column {missing!r}{nearest(missing, names)}; a table of changes has the "
                f"key columns {', '.join(columns)}, then {answer or 'answer'}, and may have `{CHANGE}`"
            )
        if len(names) not in (cells, cells + 1):
            raise InputError(f"{table.where}: {len(names)} columns; {cells} of the key and one answer are wanted")
        columns, rest = tuple(names[:cells]), names[cells:]
        answer = rest[0] if rest else None
    answers = table.columns.get(answer or "")
    kinds = table.columns.get(CHANGE)
    for row in range(table.rows):
        where = f"{table.where}, {table.unit} {int(table.lines[row])}"
        kind = kinds[row].strip().lower() if kinds else "store"
        if kinds and kind not in KINDS:
            raise InputError(f"{where}: `{CHANGE}` is {kinds[row]!r}; it is one of {', '.join(KINDS)}")
        given = answers[row].strip() if answers else ""
        if kind != "forget" and not given:
            raise InputError(f"{where}: the answer is blank; give one, or a column `{CHANGE}` with forget")
        key = tuple(table.columns[name][row].strip() for name in columns)
        yield Asked(kind, key, None if kind == "forget" else given, where)  # type: ignore[arg-type]


def written(kind: Kind, text: str, reader: KeyReader) -> Asked:
    """A change written on a command line: `capital France=Lyon`, or `capital France` where it is forgotten."""
    key, equals, answer = (text, "", "") if kind == "forget" else text.rpartition("=")
    if kind != "forget" and not (equals and key.strip() and answer.strip()):
        raise InputError(f"{text!r}: give the key, an equals sign and the answer, as in 'capital France=Lyon'")
    return Asked(kind, reader.taken(key.split()), answer.strip() if equals else None, f"{kind} {text!r}")


def checked(asked: Sequence[Asked], task: AssociationTask, reader: KeyReader, forget: Forget) -> list[Change]:
    """The changes that change something, as the facts of the model take them; all problems at once."""
    rows, wrong, found = rows_by_key(task), [], {}
    for item in asked:
        ids, _ = reader.ids([item.key])
        readable = reader.readable(item.key)
        if not readable:
            wrong.append(_unreadable(item, reader))
            continue
        row = rows.get(tuple(ids[0].tolist()))
        name = " ".join(item.key)
        if row is None and item.kind in ("set", "forget"):
            also = "; add it instead" if item.kind == "set" else ""
            wrong.append(f"{item.where}: the key {name!r} is not stored{also}")
            continue
        if row is not None and item.kind == "add":
            wrong.append(f"{item.where}: the key {name!r} is stored already; set it instead")
            continue
        key = task.vocabulary.words(ids[0])
        change = Change(key=key, answer=item.answer, forget=forget if item.answer is None else None)
        if key in found and found[key] != change:
            wrong.append(f"{item.where}: contradicts another change of the key {name!r}; give one")
            continue
        if row is None or item.answer != task.vocabulary.tokens[int(task.answers[row])]:
            found[key] = change
    if wrong:
        raise problems("changes", wrong)
    return list(found.values())


def _unreadable(item: Asked, reader: KeyReader) -> str:
    if len(item.key) != reader.cells:
        named = f" ({', '.join(reader.columns)})" if reader.columns else ""
        return f"{item.where}: {len(item.key)} parts, and a key of this model has {reader.cells}{named}"
    unknown = reader.unknown(item.key)
    if unknown:
        return (
            f"{item.where}: {', '.join(map(repr, unknown[:5]))} is no token of the model's keys"
            f"{nearest(unknown[0], reader.vocabulary.tokens)}; a new key token takes building again"
        )
    return f"{item.where}: the key is longer than the {reader.context} tokens that the model reads"
