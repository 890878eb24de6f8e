"""How much can a Transformer learn by rote? Predict it, build it, measure it.

The public surface; what needs a tensor library is imported when first asked for, so that bounds answer at once.
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
    from rote.measure.divergence import divergence as divergence
    from rote.measure.recall import Recall as Recall
    from rote.measure.recall import recall as recall
    from rote.models.attention_only import AttentionOnly as AttentionOnly
    from rote.models.model import Model as Model
    from rote.tasks import AssociationTask as AssociationTask
    from rote.tasks import DistributionTask as DistributionTask
    from rote.tasks import VectorTask as VectorTask
    from rote.tasks.facts import facts as facts
    from rote.theory import Bound as Bound
    from rote.theory import bounds as bounds
    from rote.training.result import Trained as Trained
    from rote.training.train import train as train

_WHERE = {
    "Bound": "rote.theory",
    "bounds": "rote.theory",
    "Built": "rote.constructions.build",
    "build": "rote.constructions.build",
    "CheckFailed": "rote.errors",
    "InputError": "rote.errors",
    "RoteError": "rote.errors",
    "divergence": "rote.measure.divergence",
    "Recall": "rote.measure.recall",
    "recall": "rote.measure.recall",
    "AttentionOnly": "rote.models.attention_only",
    "Model": "rote.models.model",
    "AssociationTask": "rote.tasks",
    "DistributionTask": "rote.tasks",
    "VectorTask": "rote.tasks",
    "facts": "rote.tasks.facts",
    "Trained": "rote.training.result",
    "train": "rote.training.train",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'rote' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*_WHERE, "__version__"])
