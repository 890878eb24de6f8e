"""An erratum: one printed statement, what is true, and the test that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["false", "unproved", "misprint or convention", "sharper statement", "note"]
"""`false`: a counterexample to the printed statement is given. `unproved`: a step of the printed proof fails; the
statement may be true. `misprint or convention`: the printed formula is right after a change of sign, constant or word.
`sharper statement`: the paper is right, and more is true. `note`: about using the result; nothing is corrected."""

VERDICTS: dict[Verdict, str] = {
    "false": "A counterexample to the printed statement is given.",
    "unproved": "A step of the printed proof fails. The statement itself may be true.",
    "misprint or convention": "Right after a change of sign, constant or word; the result is not affected.",
    "sharper statement": "The paper is right, and more is true.",
    "note": "About using the result. Nothing is corrected.",
}


@dataclass(frozen=True)
class Erratum:
    """One entry of docs/errata.md."""

    id: str
    paper: str
    """Id in `rote.theory.papers`."""
    version: str
    place: str
    verdict: Verdict
    title: str
    quotation: str
    """The printed words, verbatim from the text that `version` names: what the entry corrects, sharpens or uses."""
    truth: str
    tests: tuple[str, ...]
    """Names of test functions that fail if this entry is wrong."""
    counterexample: str = ""
    """The shortest one, for `false`, or what breaks the step, for `unproved`."""
