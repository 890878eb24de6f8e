"""`rote ask`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from rote.cli.output import AsJson, print_json, print_pairs

if TYPE_CHECKING:
    from rote.models.asking import Answer, Askable
    from rote.models.model import Model

STDIN = "-"


def ask(
    model: Path,
    /,
    *words: Annotated[
        str,
        Parameter(
            name="KEY",
            allow_leading_hyphen=True,
            help="The words of a key, or - to read one key per line from standard input.",
        ),
    ],
    runners_up: int = 3,
    as_json: AsJson = False,
) -> int:
    """Ask a model for a fact: its answer, the logit margin and the runners-up.

    With `-`, every line of standard input is a key (comma-separated where a key has several cells) and every answer is
    one line of CSV, or of JSON with --json. Exits 1 for a key that was never stored, as far as the key set saved with
    the model can tell.

    Examples:

    - `rote ask model capital France`
    - `cut -d, -f1,2 facts.csv | rote ask model -`

    Parameters
    ----------
    model
        A model folder.
    runners_up
        Number of runners-up to print, best first.
    """
    from rote.errors import InputError

    if not words:
        raise InputError("rote ask: missing the key; give its words, or - to read keys from standard input")
    if runners_up < 0:
        raise InputError(f"`runners_up={runners_up}`: must be at least 0")

    if words == (STDIN,):
        from rote.folders import read_folder

        return _from_stdin(read_folder(model).model, runners_up, as_json)
    asked, answer = _one(model, words, runners_up)
    if as_json:
        print_json(answer.summary())
    elif answer.answer is None:
        from rote.models.asking import reader_of
        from rote.tasks.folding import folded
        from rote.tasks.near_keys import LOOSE, near_key

        meant = near_key(reader_of(asked), answer.key)
        print(f"unknown: {' '.join(answer.key)} was never stored in this model")
        if meant is not None:
            print(f"did you mean: {' '.join(meant)}")
            if all(folded(cell, LOOSE) == folded(mine, LOOSE) for cell, mine in zip(answer.key, meant, strict=True)):
                print("a model built with --ignore-case --ignore-punctuation reads both as one key")
    else:
        print_pairs(
            answer.answer,
            {
                "key": " ".join(answer.key),
                "logit margin": answer.margin,
                **{f"runner-up {_visible(other.answer)}": f"{other.behind:.4g} behind" for other in answer.runners_up},
            },
        )
    return 0 if answer.known else 1


def _visible(token: str) -> str:
    """A token in a table: a space of a spelled key in quotation marks."""
    return token if token.strip() else repr(token)


def _one(folder: Path, words: tuple[str, ...], runners_up: int) -> tuple[Askable, Answer]:
    """The model and its answer to one question, without torch where a few products of matrices in numpy do."""
    from rote.folders.quick import read_quick
    from rote.models.asking import ask as ask_model

    quick = read_quick(folder)
    if quick is not None:
        return quick, ask_model(quick, words, runners_up)
    from rote.folders import read_folder

    model = read_folder(folder).model
    return model, ask_model(model, words, runners_up)


def _from_stdin(model: Model, runners_up: int, as_json: bool) -> int:
    """Answers as they are found, a few thousand keys at a time."""
    import csv
    import json
    import sys
    from itertools import islice

    from rote.models.asking import answers, reader_of

    reader = reader_of(model)
    columns = reader.columns or tuple(f"token {number}" for number in range(1, reader.cells + 1))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if not as_json:
        writer.writerow([*columns, "answer", "margin", "known"])
    lines = (line.rstrip("\r\n") for line in sys.stdin if line.strip())
    while some := list(islice(lines, 4096)):
        keys = [(line.strip(),) for line in some] if reader.cells == 1 else [tuple(row) for row in csv.reader(some)]
        for answer in answers(model, keys, runners_up):
            if as_json:
                print(json.dumps(answer.summary(), ensure_ascii=False))
            else:
                writer.writerow(_row(answer, len(columns)))
    return 0


def _row(answer: Answer, cells: int) -> list[str]:
    key = [*answer.key, *[""] * cells][:cells]
    margin = "" if answer.margin is None else f"{answer.margin:.6g}"
    return [*key, answer.answer or "", margin, "yes" if answer.known else "no"]
