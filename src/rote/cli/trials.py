"""What commands over trials have in common: trials that failed, and a part of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rote.cli.output import print_json, print_pairs

if TYPE_CHECKING:
    from rote.experiments.ledgers.ledger import FailedTrial


def failures(failed: Sequence[FailedTrial]) -> dict[str, str]:
    """A line on trials that failed, where there are any."""
    if not failed:
        return {}
    return {"failed": f"{len(failed)} trials; the same command retries them. The first: {failed[0].reason}"}


def show_part(folder: Path, part: str, trained: int, ended: int, failed: Sequence[FailedTrial], as_json: bool) -> int:
    """Print the outcome of one part of a run."""
    if as_json:
        reasons = [{"seed": trial.key.seed, "reason": trial.reason} for trial in failed]
        print_json({"run": str(folder), "part": part, "trained_now": trained, "trials": ended, "failed": reasons})
        return 0
    print_pairs(
        f"part {part} of a run",
        {
            "trials": f"{trained} trained now, {ended} in this folder",
            **failures(failed),
            "run": str(folder),
            "then": f"rote runs merge {folder} OTHER_PART -o MERGED",
            "finally": "this command with -o MERGED and without --part",
        },
    )
    return 0
