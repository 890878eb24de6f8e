"""`rote lm`: recall, plan, assumptions, capacity."""

from __future__ import annotations

from cyclopts import App

from rote.cli.lm_assumptions import assumptions
from rote.cli.lm_capacity import capacity
from rote.cli.lm_plan import plan
from rote.cli.lm_recall import recall

lm = App(
    name="lm",
    help="Measure language models: facts they recall, assumptions of theorems, bits per parameter.",
    help_epilogue="",
)

for _place, _command in enumerate((recall, plan, assumptions, capacity)):
    lm.command(_command, sort_key=_place, help_epilogue="")
