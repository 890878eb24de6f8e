"""The grammar of generators and named sources: `name` or `name:key=value,key=value`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rote.errors import InputError, details_of, nearest, problems, validation_problems

_NAME = re.compile(r"[A-Za-z][\w-]+\Z")
Options = TypeVar("Options", bound=BaseModel)


def name_of(source: str) -> str | None:
    """The name a source begins with, or none if it cannot be one: paths and drive letters are not."""
    head = source.partition(":")[0]
    return head if _NAME.match(head) else None


def options_of(source: str) -> dict[str, str]:
    """The `key=value` pairs after the colon."""
    name, colon, text = source.partition(":")
    if not colon:
        return {}
    pairs: dict[str, str] = {}
    wrong = []
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            wrong.append(f"{part!r} is not key=value; write for instance {name}:seed=1,facts=100")
        elif key in pairs:
            wrong.append(f"{key} is given twice")
        else:
            pairs[key] = value
    if wrong:
        raise problems(source, wrong)
    return pairs


def checked(model: type[Options], values: dict[str, Any], subject: str, beside: str = "") -> Options:
    """Options of one kind from names and values; every unknown or ill-typed one is named at once.

    `beside` is added to the message about unknown names: where else the name may belong.
    """
    unknown = [name for name in values if name not in model.model_fields]
    known = ", ".join(model.model_fields)
    wrong = [f"unknown option {name!r}{nearest(name, model.model_fields)}; known: {known}{beside}" for name in unknown]
    try:
        options = model(**{name: value for name, value in values.items() if name not in unknown})
    except ValidationError as error:
        raise problems(subject, wrong + validation_problems(details_of(error), options=False)) from None
    if wrong:
        raise problems(subject, wrong)
    return options


def written(name: str, options: BaseModel, **beside: str) -> str:
    """The text that gives these options again; those at their defaults are left out."""
    pairs = {**beside, **options.model_dump(exclude_defaults=True)}
    values = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in pairs.items()}
    return f"{name}:" + ",".join(f"{key}={value}" for key, value in values.items())


def refuse_unknown(name: str, known: Iterable[str]) -> InputError:
    """The error for a source that is neither a file nor a known name."""
    known = sorted(known)
    return InputError(
        f"{name!r} is neither a file nor a known source{nearest(name, known)}; sources: {', '.join(known)}; "
        "files end in .csv, .tsv, .jsonl, .ndjson or .parquet"
    )
