"""Types that the functions of `rote` take and return, and types of their fields, for annotations and `isinstance`.

    from rote.types import LmSizes, Origin, Progress

What is in `rote.types.__all__` is as stable as what is in `rote.__all__`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rote.lazy import lazy_names

if TYPE_CHECKING:
    from rote.charts import Bar as Bar
    from rote.charts import BarChart as BarChart
    from rote.charts import HeatMap as HeatMap
    from rote.charts import Panels as Panels
    from rote.constructions.choice import Candidate as Candidate
    from rote.constructions.construction import Abandoned as Abandoned
    from rote.constructions.construction import SizeEstimate as SizeEstimate
    from rote.display import Records as Records
    from rote.display import ResultTable as ResultTable
    from rote.editing.diff import FactDifference as FactDifference
    from rote.editing.diff import TensorDifference as TensorDifference
    from rote.experiments.best_of_seeds import KeptSeeds as KeptSeeds
    from rote.experiments.capacity import Capacity as Capacity
    from rote.experiments.capacity import CapacityTry as CapacityTry
    from rote.experiments.densest import ShapeResult as ShapeResult
    from rote.experiments.kits.kit import Kit as Kit
    from rote.experiments.kits.schema import KitDifference as KitDifference
    from rote.experiments.kits.schema import KitManifest as KitManifest
    from rote.experiments.kits.schema import KitModel as KitModel
    from rote.experiments.kits.schema import TensorChange as TensorChange
    from rote.experiments.known_answers import KnownAnswer as KnownAnswer
    from rote.experiments.ledgers.ledger import FailedTrial as FailedTrial
    from rote.experiments.ledgers.ledger import LedgerContents as LedgerContents
    from rote.experiments.ledgers.ledger import LedgerOverview as LedgerOverview
    from rote.experiments.ledgers.ledger import TrialKey as TrialKey
    from rote.experiments.ledgers.ledger import TrialRow as TrialRow
    from rote.experiments.lm_capacity.reading import LmCapacity as LmCapacity
    from rote.experiments.lm_capacity.reading import ReadingInterval as ReadingInterval
    from rote.experiments.paper_overview import ClaimVerdict as ClaimVerdict
    from rote.experiments.paper_overview import FigureOverview as FigureOverview
    from rote.experiments.paper_overview import JudgedClaim as JudgedClaim
    from rote.experiments.paper_overview import MeasuredSeries as MeasuredSeries
    from rote.experiments.paper_overview import PaperMethod as PaperMethod
    from rote.experiments.paper_overview import PaperOverview as PaperOverview
    from rote.experiments.paper_overview import PaperResult as PaperResult
    from rote.experiments.paper_overview import RunCost as RunCost
    from rote.experiments.reproduce import Reproduction as Reproduction
    from rote.experiments.runner import Schedule as Schedule
    from rote.experiments.runs.laws import RunLaws as RunLaws
    from rote.experiments.runs.laws import SizeExponent as SizeExponent
    from rote.experiments.size_laws import SizeSweep as SizeSweep
    from rote.experiments.size_laws import SweepLaw as SweepLaw
    from rote.experiments.sizing.plan import Plan as Plan
    from rote.experiments.suite import Suite as Suite
    from rote.experiments.suite_schema import Rejected as Rejected
    from rote.experiments.suite_schema import SuiteManifest as SuiteManifest
    from rote.experiments.suite_schema import SuiteModel as SuiteModel
    from rote.experiments.trial import Trainer as Trainer
    from rote.export.certificate import Condition as Condition
    from rote.export.certificate import RuntimeCertificate as RuntimeCertificate
    from rote.export.export import Exported as Exported
    from rote.export.facts_task import ExportedTask as ExportedTask
    from rote.export.facts_task import TaskCertificate as TaskCertificate
    from rote.folders.verification import CertificateCheck as CertificateCheck
    from rote.lm.assumptions import Assumptions as Assumptions
    from rote.lm.assumptions import LayerAssumptions as LayerAssumptions
    from rote.lm.attribution.attribution import AskedFact as AskedFact
    from rote.lm.attribution.components import LmComponent as LmComponent
    from rote.lm.attribution.kinds import KindEffects as KindEffects
    from rote.lm.attribution.kinds import LayerWindow as LayerWindow
    from rote.lm.attribution.paths import ThroughHeads as ThroughHeads
    from rote.lm.attribution.sets import FactSet as FactSet
    from rote.lm.attribution.sets import KindShare as KindShare
    from rote.lm.capacity.point import LmCapacityPoint as LmCapacityPoint
    from rote.lm.capacity.strings import StringShape as StringShape
    from rote.lm.capacity.subjects import LmSizes as LmSizes
    from rote.lm.geometry import LookUp as LookUp
    from rote.lm.geometry import SampleFraction as SampleFraction
    from rote.lm.geometry import Separation as Separation
    from rote.lm.graft.adapter import Adapter as Adapter
    from rote.lm.graft.adapter import AdapterCertificate as AdapterCertificate
    from rote.lm.graft.adapter import AdapterRecord as AdapterRecord
    from rote.lm.graft.edit import GraftEdit as GraftEdit
    from rote.lm.graft.graft import Graft as Graft
    from rote.lm.graft.hook import FactHook as FactHook
    from rote.lm.graft.hook import HookRecord as HookRecord
    from rote.lm.graft.record import Asked as Asked
    from rote.lm.graft.record import GraftCertificate as GraftCertificate
    from rote.lm.graft.record import GraftRecord as GraftRecord
    from rote.lm.language_model import LanguageModel as LanguageModel
    from rote.lm.language_model import ParameterCount as ParameterCount
    from rote.lm.language_model import PromptState as PromptState
    from rote.lm.plan import LoraPlan as LoraPlan
    from rote.lm.plan import LoraRank as LoraRank
    from rote.lm.recall import LanguageRecall as LanguageRecall
    from rote.lm.recall import Reply as Reply
    from rote.lm.recall import Tally as Tally
    from rote.measure.abstention import Abstention as Abstention
    from rote.measure.certificate import Examination as Examination
    from rote.measure.divergence import Divergence as Divergence
    from rote.measure.inspection import Contribution as Contribution
    from rote.measure.inspection import HeadIndex as HeadIndex
    from rote.measure.inspection import SlotRead as SlotRead
    from rote.measure.intervals import Interval as Interval
    from rote.measure.laws import LawFit as LawFit
    from rote.measure.laws import Points as Points
    from rote.measure.softmax_code import SoftmaxCode as SoftmaxCode
    from rote.models.asking import RunnerUp as RunnerUp
    from rote.models.grid import Precision as Precision
    from rote.models.grid import TensorGrid as TensorGrid
    from rote.papers.claims import PublishedFigure as PublishedFigure
    from rote.progress import Progress as Progress
    from rote.progress import Stage as Stage
    from rote.report.reproduction import Reproduced as Reproduced
    from rote.report.reproduction import ReproducedFigure as ReproducedFigure
    from rote.report.reproduction import ReproducedPart as ReproducedPart
    from rote.tasks.association import Fact as Fact
    from rote.tasks.change import Change as Change
    from rote.tasks.facts import Frame as Frame
    from rote.tasks.key_reader import KeyReader as KeyReader
    from rote.tasks.key_set import KeySet as KeySet
    from rote.tasks.key_set import KeySetSizes as KeySetSizes
    from rote.tasks.origin import Origin as Origin
    from rote.tasks.task import Task as Task
    from rote.tasks.token_task import TokenTask as TokenTask
    from rote.tasks.vocabulary import Vocabulary as Vocabulary
    from rote.theory.ordered import Bounds as Bounds
    from rote.trackers import Tracker as Tracker
    from rote.training.failure import Failed as Failed

__getattr__, __dir__ = lazy_names(__name__)
