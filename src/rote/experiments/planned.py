"""What the name of a paper or a figure stands for: the plan of each figure, of whichever kind, and its run's folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rote.errors import InputError, problems
from rote.experiments.blocks.plan import BlockPlan
from rote.experiments.lookups.plan import FigurePlan
from rote.experiments.statements.plan import StatementPlan
from rote.experiments.vectors.plan import VectorPlan
from rote.models.attention_only import Positions
from rote.papers import AnyFigure, figures_named, names_several
from rote.papers.block_figures import BlockFigure
from rote.papers.paper import Figure
from rote.papers.statements import Statement
from rote.tasks.labelled_text.sources import DEFINITIONS

AnyPlan = FigurePlan | VectorPlan | BlockPlan | StatementPlan


@dataclass(frozen=True)
class RunChoices:
    """How figures are run; what is absent is as the paper has it."""

    protocol: str = "fast"
    quick: bool = False
    """Fewer cells and repeats."""
    repeats: int | None = None
    variant: str | None = None
    """Of the models' heads, where a figure about look-up tables has both kinds."""
    texts: str | None = None
    """Which texts, of figures that read some."""
    positions: Positions | None = None
    """Where positions enter the models, of figures about look-up tables."""

    def plan(self, figure: AnyFigure) -> AnyPlan:
        """The plan of one figure; a choice that is about another kind of figure says nothing of it."""
        common = {"protocol": self.protocol, "quick": self.quick, "repeats": self.repeats}
        if isinstance(figure, Figure):
            return FigurePlan.of(figure, variant=self.variant, positions=self.positions, **common)
        if isinstance(figure, BlockFigure):
            return BlockPlan.of(figure, texts=self.texts or DEFINITIONS, **common)
        if isinstance(figure, Statement):
            return StatementPlan.of(figure, quick=self.quick, repeats=self.repeats)
        return VectorPlan.of(figure, **common)

    def refusals(self, figures: list[AnyFigure]) -> list[str]:
        """Choices that none of the figures has."""
        refused = []
        if self.protocol != "fast" and all(isinstance(figure, Statement) for figure in figures):
            refused.append(f"`protocol={self.protocol}`: nothing is trained; leave it out")
        if self.variant is not None and not any(isinstance(figure, Figure) for figure in figures):
            refused.append(f"`variant={self.variant}`: its models have one kind of heads; leave it out")
        if self.positions is not None and not any(isinstance(figure, Figure) for figure in figures):
            refused.append(f"`positions={self.positions}`: its models leave no choice of positions; leave it out")
        if self.texts is not None and not any(isinstance(figure, BlockFigure) for figure in figures):
            refused.append(f"`texts={self.texts}`: is not about texts; leave it out")
        return refused


def run_of(figure: AnyFigure) -> str:
    """The name of the run that a figure's trials are in."""
    return RunChoices().plan(figure).run


def planned_runs(
    name: str, output: str | Path | None = None, choices: RunChoices | None = None
) -> list[tuple[AnyPlan, Path]]:
    """The plans that a figure's or a paper's id names, each with the folder of its run.

    Runs go to `runs/` when `output` is absent; with a paper it is a folder that holds the runs of its figures. Figures
    of which `quick` keeps nothing are left out.
    """
    figures, choices = figures_named(name), choices or RunChoices()
    if refused := choices.refusals(figures):
        raise problems(name, refused)
    plans = [plan for figure in figures if not (plan := choices.plan(figure)).empty]
    if not plans:
        raise InputError(f"{name}: `quick` keeps nothing of it; run it whole, or another figure")
    if output is None:
        return [(plan, plan.default_folder) for plan in plans]
    several = names_several(name)
    return [(plan, Path(output) / plan.default_folder.name if several else Path(output)) for plan in plans]
