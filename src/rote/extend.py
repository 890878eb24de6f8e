"""What your own constructions, results, architectures, figures and sources are written with (docs/extending.md).

    from rote.extend import Construction, Draft, Options, Request, register_construction, result

Constructions: `Construction`, `Request`, `Draft`, `EditRequest`, `Options`, `register_construction`, `CONSTRUCTIONS`.
Results:
`result`, `Result`, `Value`, `Refusal`, `SmallestModel`, `SmallestSize`, `TaskShape`, `RESULTS`. Papers: `Paper`,
`register_paper`, `PAPERS`. Sources of facts: `Source`, `Table`, `Reading`, `register_source`, `SOURCES`. Models:
`Spec`, `Transformer`, `Architecture`, `register_architecture`, `dtype_named`. Kinds of figures: `FigureKind`,
`FigureSchedule`, `RunChoices`, `Trial`, `ListedTrials`, `Findings`, `Column`, `Claim`, `Rule`, `Verdict`, `XYChart`,
`ChartSeries`, `Mark`, `register_kind`, `register_figures`, `KINDS`.

`rote.testing` has the suites that rote holds its own to. What is in `rote.extend.__all__` is as stable as what is in
`rote.__all__`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rote.lazy import lazy_names

if TYPE_CHECKING:
    from rote.charts import ChartSeries as ChartSeries
    from rote.charts import Mark as Mark
    from rote.charts import XYChart as XYChart
    from rote.constructions.construction import CONSTRUCTIONS as CONSTRUCTIONS
    from rote.constructions.construction import Construction as Construction
    from rote.constructions.construction import Draft as Draft
    from rote.constructions.construction import EditRequest as EditRequest
    from rote.constructions.construction import Options as Options
    from rote.constructions.construction import Request as Request
    from rote.constructions.construction import register_construction as register_construction
    from rote.experiments.findings import Column as Column
    from rote.experiments.findings import FigureSchedule as FigureSchedule
    from rote.experiments.findings import Findings as Findings
    from rote.experiments.findings import Verdict as Verdict
    from rote.experiments.kind import FigureKind as FigureKind
    from rote.experiments.kind import RunChoices as RunChoices
    from rote.experiments.kinds import KINDS as KINDS
    from rote.experiments.kinds import register_kind as register_kind
    from rote.experiments.runner import ListedTrials as ListedTrials
    from rote.experiments.trial import Trial as Trial
    from rote.models import Spec as Spec
    from rote.models.attention_only import Transformer as Transformer
    from rote.models.forward.architecture import Architecture as Architecture
    from rote.models.forward.architecture import register_architecture as register_architecture
    from rote.models.model import dtype_named as dtype_named
    from rote.papers import register_figures as register_figures
    from rote.papers.claims import Claim as Claim
    from rote.papers.claims import Quotation as Quotation
    from rote.papers.claims import Rule as Rule
    from rote.tasks.origin import Reading as Reading
    from rote.tasks.shape import TaskShape as TaskShape
    from rote.tasks.sources import SOURCES as SOURCES
    from rote.tasks.sources import Source as Source
    from rote.tasks.sources import register_source as register_source
    from rote.tasks.table import Table as Table
    from rote.theory.bound import Refusal as Refusal
    from rote.theory.bound import Value as Value
    from rote.theory.papers import PAPERS as PAPERS
    from rote.theory.papers import Paper as Paper
    from rote.theory.papers import register_paper as register_paper
    from rote.theory.result import RESULTS as RESULTS
    from rote.theory.result import Result as Result
    from rote.theory.result import result as result
    from rote.theory.smallest import SmallestModel as SmallestModel
    from rote.theory.smallest import SmallestSize as SmallestSize

__getattr__, __dir__ = lazy_names(__name__)
