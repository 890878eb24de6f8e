"""The facts that a model folder names: read again only where that is safe, and asked for otherwise.

A folder from a stranger may name anything as the source of its facts: a pipe, a device, a file of gigabytes, a
generator of millions. What it names is read if it is a regular file below a stated size, a small generator or a named
source; a user who names facts may name any.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rote.errors import InputError, RoteError
from rote.files import TABLE, read_regular
from rote.tasks.association import AssociationTask
from rote.tasks.changes import changed
from rote.tasks.facts import GENERATOR, STDIN, facts, facts_in, is_path, source_names
from rote.tasks.generators import numbers_generated
from rote.tasks.grammar import name_of
from rote.tasks.origin import UNNAMED, Origin
from rote.tasks.task import Task

MOST_GENERATED = 2**21
"""Numbers in the facts that a generator named by a folder makes."""


def facts_of_folder(origin: Origin, folder: Path) -> Task:
    """The facts that a folder's origin names, read as the folder says; an error that asks for them otherwise.

    Changes that the folder records are made to them.
    """
    task = _read_again(origin, folder)
    if not origin.changes:
        return task
    if not isinstance(task, AssociationTask):
        raise InputError(f"{folder}: says that its facts were changed, but {task.kind} have no facts to change")
    return replace(changed(task.majority(), origin.changes), origin=origin)


def _read_again(origin: Origin, folder: Path) -> Task:
    source = origin.source
    if source in UNNAMED or source == STDIN:
        raise InputError(f"{folder}: its facts have no name ({source}) and cannot be read again; name the facts")
    reading = origin.reading.model_dump(exclude_defaults=True)
    try:
        if is_path(source):
            return facts_in(read_regular(Path(source), TABLE), source, **reading)
        if name_of(source) == GENERATOR:
            _refuse_many(source)
        elif name_of(source) not in source_names():
            raise InputError(f"{source}: is neither a file nor a known source")
        return facts(source, **reading)
    except RoteError as error:
        raise InputError(
            f"{folder}: its facts came from {source!r}, which is not read again ({error}); name the facts"
        ) from None


def _refuse_many(source: str) -> None:
    """Reject a generator of more numbers than a folder may ask for unseen."""
    if numbers_generated(source) > MOST_GENERATED:
        raise InputError(f"{source}: generates more than the {MOST_GENERATED:,} numbers that a folder may ask for")
