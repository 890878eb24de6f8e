"""One family of errors: a message names what was given, the likely cause and the remedy.

Messages name options the way Python calls them, in backticks: `head_dim`, or `keys=letters` with a value. A reader of
the library takes them as they stand. The command line replaces each by what its user would type (`rote.cli.usage`):
the flag of the command that ran (`--head-dim`, `--keys letters`), or `--set width=...` for a setting of a
construction's own. A name in backticks that is neither is left alone, and so is everything outside backticks. No
message below the command line names a flag.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol

from rote.words import visible_lines

REMEDIES = {
    errno.ENOSPC: "; free some space, or write to another disk",
    errno.EDQUOT: "; free some space, or write to another disk",
    errno.EACCES: "; choose a place that you may write to, or change its permissions",
    errno.EPERM: "; choose a place that you may write to, or change its permissions",
    errno.EROFS: "; choose a place that can be written to",
    errno.ENOTDIR: "; a folder of the path is a file",
}
"""What to do about the causes that writing a file commonly fails for."""
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)
"""Causes that lie with the disk."""


class RoteError(Exception):
    """Base of every error rote raises on purpose; the command line prints it without a traceback.

    >>> import rote
    >>> try:
    ...     rote.facts("contries")
    ... except rote.RoteError as error:
    ...     print("did you mean 'countries'?" in str(error))
    True
    """

    exit_code = 2

    def __str__(self) -> str:
        # Messages quote names and values of files, which may hold anything.
        return visible_lines(super().__str__())


class InputError(RoteError):
    """Input that cannot be used: a file, a table, a specification, an option.

    >>> import rote
    >>> rote.build(3)
    Traceback (most recent call last):
    ...
    rote.errors.InputError: build: `task=3`: must be a path, a DataFrame, a mapping ... found int
    """


class WriteFailed(InputError):
    """A file that the system does not let be written: a full disk, a folder without permission."""


class CheckFailed(RoteError):
    """A claim was checked and did not hold.

    >>> import rote
    >>> spec = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
    >>> rote.train_best("random:vocab=6,context=2,facts=9,seed=1", spec, seeds=1, steps=300, peak=900.0)
    Traceback (most recent call last):
    ...
    rote.errors.CheckFailed: training diverged in every seed ...
    """

    exit_code = 1


MOST_PROBLEMS = 50
"""Problems that one message lists."""
MOST_DETAILED = 4096
"""Problems of one input that pydantic describes."""
MOST_NAMES = 20
"""Names that one sentence lists."""
MOST_COMPARED = 500
"""Names that a mistyped one is compared with; the cost of comparing grows with their number."""
LONGEST_VALUE = 200
"""Characters of a value that a message shows."""


def problems(subject: str, texts: list[str]) -> InputError:
    """All problems of one subject as one error, so that a user fixes them in one pass."""
    if len(texts) == 1:
        return InputError(f"{subject}: {texts[0]}")
    shown = "\n".join(f"  - {text}" for text in texts[:MOST_PROBLEMS])
    more = f"\n  - and {len(texts) - MOST_PROBLEMS:,} more" if len(texts) > MOST_PROBLEMS else ""
    return InputError(f"{subject}: {len(texts):,} problems\n{shown}{more}")


def listed(names: Sequence[object]) -> str:
    """Comma-separated names; of many, the first ones and how many more there are."""
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(map(cut, names[:MOST_NAMES]))}{more}"


def cut(value: object) -> str:
    """A value as text, without the middle of a very long one."""
    text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE // 2]} ... {text[-LONGEST_VALUE // 4 :]}"


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at the known name that a mistyped one is closest to, if any is close; an id may lack its first part."""
    names = list(known)[:MOST_COMPARED]
    last = {full.rpartition(".")[2]: full for full in reversed(names)}
    close = get_close_matches(cut(name), names, n=1) or [last[one] for one in get_close_matches(cut(name), last, n=1)]
    return f" (did you mean {close[0]!r}?)" if close else ""


class ManyErrors(Protocol):
    """What pydantic raises (`ValidationError`)."""

    def error_count(self) -> int: ...

    def errors(self) -> Sequence[Mapping[str, Any]]: ...


def details_of(error: ManyErrors) -> Sequence[Mapping[str, Any]]:
    """What pydantic found wrong, one entry per problem; of more than `MOST_DETAILED` problems only their number.

    A file of ten megabytes may have five million, and to describe them takes 45 s and 5 GB.
    """
    count = error.error_count()
    if count <= MOST_DETAILED:
        return error.errors()
    return [{"type": "many", "loc": (), "msg": f"{count:,} problems, too many to name", "input": None}]


def validation_problems(
    details: Sequence[Mapping[str, Any]], known: Iterable[str] = (), options: bool = True
) -> list[str]:
    """The problems that pydantic found (`details_of`), one sentence per problem.

    `known` are the names that would have been accepted, for the message about one that is not. `options` says whether
    the names are options of a call; those of a file or of a generator's text are not, and get no backticks.
    """
    known = list(known)
    texts = [_validation_problem(detail, known, options) for detail in details[:MOST_PROBLEMS]]
    return texts if len(details) <= MOST_PROBLEMS else [*texts, f"and {len(details) - MOST_PROBLEMS:,} more"]


def _validation_problem(detail: Mapping[str, Any], known: list[str], options: bool) -> str:
    plain = cut(".".join(str(part) for part in detail["loc"]))
    message = detail["msg"].removeprefix("Value error, ")
    if not plain:
        return message
    if detail["type"] == "extra_forbidden" and known:
        return f"unknown option {plain!r}{nearest(plain, known)}; known: {', '.join(known)}"
    if detail["type"] == "missing":
        return f"`{plain}` is missing" if options else f"{plain} is missing"
    given = f"{plain}={cut(repr(detail['input']))}"
    message = message.removeprefix("Input ")
    return f"{f'`{given}`' if options else given}: {message[0].lower()}{message[1:]}"


def system_message(error: OSError) -> str:
    """An error of the operating system in words: the file, the cause and the remedy."""
    return f"{error.filename}: {system_cause(error)}" if error.filename is not None else system_cause(error)


def system_cause(error: OSError) -> str:
    """The cause of an error of the operating system, and its remedy."""
    return f"{error.strerror or error}{REMEDIES.get(error.errno or 0, '')}"


def disk_error(error: BaseException) -> OSError | None:
    """The full or failing disk behind an error, which libraries report in exceptions of their own."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in DISK:
            return seen
        for number in DISK:
            # Rust libraries append the number, C libraries the words.
            if f"(os error {number})" in str(seen) or os.strerror(number) in str(seen):
                return OSError(number, os.strerror(number))
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return None
