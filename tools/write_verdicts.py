"""Write what finished runs say into the verdicts that ship: `python tools/write_verdicts.py RUN ...`.

Each claim of each figure in these runs gets the verdict, the numbers and the command of the run; a figure whose run is
quick or incomplete is rejected. Verdicts on released values are written anew for every figure.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from rote.experiments.findings import Findings
from rote.experiments.kinds import kind_of, schedule_of
from rote.papers import FIGURES
from rote.papers.verdicts import PATH, RELEASED, ShippedVerdict, shipped_verdicts
from rote.report.run_view import RunView
from rote.words import command

Key = tuple[str, str, str]


def command_of(findings: Findings[Any, Any]) -> str:
    """The command that runs this again, without options at their defaults."""
    default = schedule_of(findings.figure).asked
    asked = {name: value for name, value in findings.schedule.asked.items() if value != default.get(name)}
    return command("rote", "reproduce", findings.figure.id, *(w for n, v in asked.items() for w in (f"--{n}", v)))


def of_run(findings: Findings[Any, Any]) -> dict[Key, ShippedVerdict]:
    figure, protocol = findings.figure.id, findings.schedule.protocol
    if findings.quick or findings.missing:
        raise SystemExit(f"{figure}: the run is {'quick' if findings.quick else 'incomplete'}; run it to its end")
    return {
        (figure, claim.id, protocol): ShippedVerdict(
            figure, claim.id, protocol, verdict.outcome, verdict.why, command_of(findings)
        )
        for claim, verdict in findings.verdicts
    }


def written(row: ShippedVerdict) -> dict[str, str]:
    """A row of the file; a basis is written where it is not the run itself."""
    return {name: value for name, value in asdict(row).items() if (name, value) != ("basis", "run")}


def of_released() -> dict[Key, ShippedVerdict]:
    rows = {}
    for figure in (figure for figures in FIGURES.values() for figure in figures if figure.trains):
        judged = kind_of(figure).findings(schedule_of(figure), {}).on_released
        for claim, verdict in zip(figure.claims, judged, strict=True):
            if verdict is not None:
                row = ShippedVerdict(
                    figure.id, claim.id, RELEASED, verdict.outcome, verdict.why, f"rote reproduce {figure.id}"
                )
                rows[figure.id, claim.id, RELEASED] = row
    return rows


def main() -> None:
    rows = {(row.figure, row.claim, row.protocol): row for row in shipped_verdicts() if row.protocol != RELEASED}
    for folder in sys.argv[1:]:
        for findings in RunView.of(folder).findings:
            rows |= of_run(findings)
    rows |= of_released()
    protocols = ["fast", "paper", "best", RELEASED]
    ordered = [
        rows[figure.id, claim.id, protocol]
        for figures in FIGURES.values()
        for figure in figures
        for claim in figure.claims
        for protocol in protocols
        if (figure.id, claim.id, protocol) in rows
    ]
    lines = ",\n".join(f" {json.dumps(written(row), ensure_ascii=False)}" for row in ordered)
    PATH.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(ordered)} verdicts in {PATH}")


if __name__ == "__main__":
    main()
