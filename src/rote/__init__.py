"""How much can a Transformer learn by rote? Predict it, build it, measure it.

The public surface. What needs a tensor library is imported when first asked for, so that bounds answer at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rote.constructions.build import Built as Built
    from rote.constructions.build import build as build
    from rote.errors import CheckFailed as CheckFailed
    from rote.errors import InputError as InputError
    from rote.errors import RoteError as RoteError
    from rote.experiments.capacity import capacity as capacity
    from rote.experiments.plan import plan as plan
    from rote.folders import read_folder as read_folder
    from rote.folders import verify as verify
    from rote.folders import write_folder as write_folder
    from rote.measure.divergence import divergence as divergence
    from rote.measure.inspection import Inspection as Inspection
    from rote.measure.inspection import inspect as inspect
    from rote.measure.recall import Recall as Recall
    from rote.measure.recall import recall as recall
    from rote.measure.softmax_code import softmax_code as softmax_code
    from rote.models.attention_only import AttentionOnly as AttentionOnly
    from rote.models.linear_memory import LinearMemory as LinearMemory
    from rote.models.mlp_transformer import MlpTransformer as MlpTransformer
    from rote.models.model import Model as Model
    from rote.models.query_attention import QueryAttention as QueryAttention
    from rote.models.sequence_encoder import SequenceEncoder as SequenceEncoder
    from rote.tasks import AssociationTask as AssociationTask
    from rote.tasks import DistributionTask as DistributionTask
    from rote.tasks import VectorTask as VectorTask
    from rote.tasks.facts import facts as facts
    from rote.theory import Bound as Bound
    from rote.theory import bounds as bounds
    from rote.training.train import train as train

_WHERE = {
    "AttentionOnly": "rote.models.attention_only",
    "LinearMemory": "rote.models.linear_memory",
    "MlpTransformer": "rote.models.mlp_transformer",
    "QueryAttention": "rote.models.query_attention",
    "SequenceEncoder": "rote.models.sequence_encoder",
    "Model": "rote.models.model",
    "Bound": "rote.theory",
    "bounds": "rote.theory",
    "plan": "rote.experiments.plan",
    "Built": "rote.constructions.build",
    "build": "rote.constructions.build",
    "train": "rote.training.train",
    "Recall": "rote.measure.recall",
    "recall": "rote.measure.recall",
    "divergence": "rote.measure.divergence",
    "Inspection": "rote.measure.inspection",
    "inspect": "rote.measure.inspection",
    "capacity": "rote.experiments.capacity",
    "softmax_code": "rote.measure.softmax_code",
    "verify": "rote.folders",
    "read_folder": "rote.folders",
    "write_folder": "rote.folders",
    "AssociationTask": "rote.tasks",
    "DistributionTask": "rote.tasks",
    "VectorTask": "rote.tasks",
    "facts": "rote.tasks.facts",
    "CheckFailed": "rote.errors",
    "InputError": "rote.errors",
    "RoteError": "rote.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'rote' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*_WHERE, "__version__"])
