"""One cell of a checked statement and a seed: what it measures, as the ledger keeps it.

Results depend on the cell and the seed alone, so that a run gives the same wherever and by however many workers it is
made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rote.experiments.ledgers.ledger import TrialKey
from rote.experiments.trial import Trial
from rote.papers.kinds.statement_settings import Setting

Results = Mapping[TrialKey, dict[str, Any]]
"""What ended trials recorded, by trial."""


@dataclass(frozen=True)
class StatementTrial(Trial):
    """A setting to evaluate. Trials of equal content are one trial."""

    setting: Setting
    seed: int

    @property
    def cell(self) -> dict[str, Any]:
        return {"setting": type(self.setting).__name__, **asdict(self.setting)}


def measured_record(trial: StatementTrial) -> dict[str, Any]:
    """The numbers of a trial; a bound that is infinite says nothing."""
    from rote.experiments.statements.measures import MEASURES

    numbers = MEASURES[type(trial.setting)](trial.setting, trial.seed)
    finite = {name: None if value is None or not math.isfinite(value) else value for name, value in numbers.items()}
    return {"numbers": finite}
