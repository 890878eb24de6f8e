"""The last verdict on each claim: shipped, so that `rote list papers` reports it without running anything.

`verdicts.json` has a row for each claim and protocol: the verdict, the numbers it rests on in a sentence, the command
that gave it, and its basis. Protocol `released` stands for the values that the paper released, judged by the same rule.
Rules, claims and who makes them are in the figures' own records.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from rote.papers.claims import Outcome

RELEASED = "released"
"""Protocol of verdicts on released values rather than on a run."""
PATH = Path(__file__).parent / "verdicts.json"
Basis = Literal["run", "earlier run"]
BASES: dict[Basis, str] = {
    "run": "The rule judged the run itself; `python tools/write_verdicts.py RUN` wrote the row.",
    "earlier run": "The run is older than the rule. Its numbers were kept, not its trials: the outcome was derived "
    "from these numbers, and the run has not been repeated.",
}


@dataclass(frozen=True)
class ShippedVerdict:
    figure: str
    claim: str
    protocol: str
    verdict: Outcome
    numbers: str
    command: str
    basis: Basis = "run"


@cache
def shipped_verdicts() -> tuple[ShippedVerdict, ...]:
    """Every verdict, in the order of papers and figures."""
    return tuple(ShippedVerdict(**row) for row in json.loads(PATH.read_text(encoding="utf-8")))


def verdicts_on(figure: str, claim: str) -> list[ShippedVerdict]:
    """The verdicts on one claim: the default protocol's first, that on the released values last."""
    return [row for row in shipped_verdicts() if (row.figure, row.claim) == (figure, claim)]
