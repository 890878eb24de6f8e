"""The report that a reproduced paper or figure ends with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rote.report.html import write_html
from rote.report.reporting import report_on


def write_run_report(name: str, folders: Sequence[Path], output: Path | None) -> Path:
    """One page about the runs in `folders`: in the only one, or else beside them (in `output`, where it was given)."""
    distinct = list(dict.fromkeys(folders))
    where = distinct[0] if len(distinct) == 1 else output or distinct[0].parent
    return write_html(report_on(distinct, title=f"rote reproduce {name}"), where / "report.html")
