"""The last verdict on each claim: shipped, so that `rote list papers` reports it without running anything.

`verdicts.json` has a row for each claim and protocol: the verdict, the numbers it rests on in a sentence, and the
command that gave it. Protocol `released` stands for the values that the paper released, judged by the same rule. Rules,
claims and who makes them are in the figures' own records.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rote.papers.claims import Outcome

RELEASED = "released"
"""Protocol of verdicts on released values rather than on a run."""
PATH = Path(__file__).parent / "verdicts.json"


@dataclass(frozen=True)
class ShippedVerdict:
    """A claim as it was judged."""

    figure: str
    claim: str
    protocol: str
    verdict: Outcome
    numbers: str
    command: str


@cache
def shipped_verdicts() -> tuple[ShippedVerdict, ...]:
    """Every verdict, in the order of papers and figures."""
    return tuple(ShippedVerdict(**row) for row in json.loads(PATH.read_text(encoding="utf-8")))


def verdicts_on(figure: str, claim: str) -> list[ShippedVerdict]:
    """The verdicts on one claim: the default protocol's first, that on the released values last."""
    return [row for row in shipped_verdicts() if (row.figure, row.claim) == (figure, claim)]
