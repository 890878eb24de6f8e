"""How much can a Transformer learn by rote? Predict it, build it, measure it.

    facts = rote.facts("airports")        # a source, a path, a DataFrame, a dict, "random:vocab=50,context=2"
    rote.plan(facts)                      # the smallest model of every method
    built = rote.build(facts)             # weights in closed form, run on every fact
    built.save("model")
    model = rote.load("model").model
    model.ask("J", "F", "K")              # an answer with its margin
    module = model.to_torch()             # a torch.nn.Module
    rote.recall(model, facts)             # what a model holds

Your facts: `facts`, `plan`, `build`, `train`, `train_best`, `load`, `recall`, `verify`, `divergence`, `softmax_code`,
`write_folder`, `export_model`, `export_task`, `from_torch`. Theory: `bounds`, `methods`, `paper`. Experiments:
`sweep`, `capacity`, `densest_shape`, `reproduce`, `fit_run`, `figure`, `report_to`. Language models:
`load_language_model`, `recall`, `attribution`, `locate`, `lm_assumptions`, `lm_capacity`, `lm_plan`, `graft`,
`verify_graft`, `ungraft`, `edit_graft`, `graft_adapter`, `graft_gguf`, `graft_hook`, `load_hook`.
Ground truth: `suite`, `twins`. This machine: `doctor`.

Every argument called `facts` accepts a task or anything that `rote.facts` accepts. Errors that rote raises on purpose
are `rote.RoteError`: `InputError` for input that cannot be used, `CheckFailed` for a claim that did not hold.

What is in `rote.__all__` is stable: it changes in a release that says so. So is what is in `rote.types` (types of
arguments and results), `rote.extend` (your own constructions, results, architectures) and `rote.testing` (their
suites). Everything else may change at any time.
"""

from __future__ import annotations

from rote.lazy import lazy_names as _lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rote.constructions.build import Built as Built
    from rote.constructions.build import build as build
    from rote.constructions.overview import Method as Method
    from rote.constructions.overview import methods as methods
    from rote.editing.diff import Difference as Difference
    from rote.editing.diff import diff as diff
    from rote.editing.edit import Edited as Edited
    from rote.editing.edit import edit as edit
    from rote.errors import CheckFailed as CheckFailed
    from rote.errors import InputError as InputError
    from rote.errors import RoteError as RoteError
    from rote.experiments.best_of_seeds import BestOfSeeds as BestOfSeeds
    from rote.experiments.best_of_seeds import train_best as train_best
    from rote.experiments.capacity import Capacities as Capacities
    from rote.experiments.capacity import capacity as capacity
    from rote.experiments.densest import Densest as Densest
    from rote.experiments.densest import densest_shape as densest_shape
    from rote.experiments.doctor import Diagnosis as Diagnosis
    from rote.experiments.doctor import doctor as doctor
    from rote.experiments.grid import Grid as Grid
    from rote.experiments.kits.kit import twins as twins
    from rote.experiments.lm_capacity.meter import lm_capacity as lm_capacity
    from rote.experiments.paper_overview import paper as paper
    from rote.experiments.runs.laws import fit_run as fit_run
    from rote.experiments.sizing.plan import plan as plan
    from rote.experiments.sizing.row import PlanRow as PlanRow
    from rote.experiments.suite import suite as suite
    from rote.experiments.sweep import Sweep as Sweep
    from rote.experiments.sweep import sweep as sweep
    from rote.export.export import export_model as export_model
    from rote.export.facts_task import export_task as export_task
    from rote.export.targets.torch_state import from_torch as from_torch
    from rote.folders import Folder as Folder
    from rote.folders import Verification as Verification
    from rote.folders import load as load
    from rote.folders import verify as verify
    from rote.folders import write_folder as write_folder
    from rote.lm.any_model import recall as recall
    from rote.lm.assumptions import lm_assumptions as lm_assumptions
    from rote.lm.attribution.attribution import Attribution as Attribution
    from rote.lm.attribution.attribution import attribution as attribution
    from rote.lm.attribution.sets import Located as Located
    from rote.lm.attribution.sets import locate as locate
    from rote.lm.graft.adapter import graft_adapter as graft_adapter
    from rote.lm.graft.edit import edit_graft as edit_graft
    from rote.lm.graft.gguf_file import graft_gguf as graft_gguf
    from rote.lm.graft.graft import graft as graft
    from rote.lm.graft.graft import ungraft as ungraft
    from rote.lm.graft.graft import verify_graft as verify_graft
    from rote.lm.graft.hook import graft_hook as graft_hook
    from rote.lm.graft.hook import load_hook as load_hook
    from rote.lm.loading import load_language_model as load_language_model
    from rote.lm.plan import lm_plan as lm_plan
    from rote.measure.abstention import abstention as abstention
    from rote.measure.certificate import Certificate as Certificate
    from rote.measure.divergence import divergence as divergence
    from rote.measure.inspection import Inspection as Inspection
    from rote.measure.inspection import inspect as inspect
    from rote.measure.recall import Recall as Recall
    from rote.measure.softmax_code import softmax_code as softmax_code
    from rote.models.asking import Answer as Answer
    from rote.models.attention_only import AttentionOnly as AttentionOnly
    from rote.models.bilinear_memory import BilinearMemory as BilinearMemory
    from rote.models.deep_relu import DeepRelu as DeepRelu
    from rote.models.linear_memory import LinearMemory as LinearMemory
    from rote.models.memory_transformer import MemoryTransformer as MemoryTransformer
    from rote.models.mlp_transformer import MlpTransformer as MlpTransformer
    from rote.models.model import Model as Model
    from rote.models.module import RoteModule as RoteModule
    from rote.models.query_attention import QueryAttention as QueryAttention
    from rote.models.reduced_attention import ReducedAttention as ReducedAttention
    from rote.models.sequence_encoder import SequenceEncoder as SequenceEncoder
    from rote.report.figures import figure as figure
    from rote.report.reproduction import reproduce as reproduce
    from rote.tasks import AssociationTask as AssociationTask
    from rote.tasks import DistributionTask as DistributionTask
    from rote.tasks import VectorTask as VectorTask
    from rote.tasks.facts import facts as facts
    from rote.theory import Bound as Bound
    from rote.theory import bounds as bounds
    from rote.trackers import report_to as report_to
    from rote.training.protocol import Protocol as Protocol
    from rote.training.result import Trained as Trained
    from rote.training.train import train as train
    from rote.version import __version__ as __version__

__getattr__, __dir__ = _lazy_names(__name__)
