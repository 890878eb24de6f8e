"""Train query attention on a vector task from several seeds, keep the best model, and certify it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from rote.errors import InputError
from rote.experiments.executor import HERE
from rote.experiments.seeds import BestModel, VectorSeedTrainer, train_seeds
from rote.measure.certificate import examine
from rote.models.query_attention import QueryAttention
from rote.progress import SILENT, Progress
from rote.tasks import VectorTask
from rote.training.query_attention.protocol import VectorProtocol, vector_protocol
from rote.training.query_attention.train import VectorTrained


@dataclass(frozen=True)
class BestOnVectors(BestModel[VectorTrained]):
    """Trained models of one vector task and specification, and the certificate of the best."""

    spec: QueryAttention

    @property
    def guaranteed(self) -> int:
        """H(min(n, k) - 1) + 1 examples: Theorem 1 of Mahdavi et al. 2024."""
        return self.spec.heads * (min(self.spec.context, self.spec.head_dim) - 1) + 1

    def summary(self) -> dict[str, Any]:
        return {
            "spec": self.spec.to_config(),
            "protocol": self.best.protocol.model_dump(mode="json"),
            "engine": self.best.engine,
            "facts": self.certificate.facts,
            "recalled": self.certificate.recalled,
            "recall": self.best.accuracy,
            "mean_square": self.best.mean_square,
            "parameters": self.certificate.parameters,
            "guaranteed": self.guaranteed,
            "best_seed": self.best.seed,
            "diverged": self.diverged,
            "models": [trained.summary() for trained in self.models],
            "seconds": round(self.seconds, 3),
        }


def train_best_on_vectors(
    task: VectorTask,
    *,
    dim: int,
    heads: int,
    head_dim: int | None = None,
    seeds: int = 5,
    protocol: str | VectorProtocol = "fast",
    on: str = HERE,
    progress: Progress = SILENT,
    **changes: Any,
) -> BestOnVectors:
    """Train the model of the published experiments once a seed; the best recalls most labels, or has the least error.

    `dim` must be the task's; `head_dim` defaults to `dim`. `on` names the executor of the seeds.
    """
    wrong = [f"`dim={dim}`: these examples' vectors have {task.dim} dimensions"] if dim != task.dim else []
    wrong += [f"`seeds={seeds}`: asks for no model"] if seeds < 1 else []
    if wrong:
        raise InputError("; ".join(wrong))
    spec = QueryAttention.experiment(task.context, task.outputs, heads, head_dim or dim, dim)
    began = time.perf_counter()
    named = vector_protocol(protocol, task, **changes) if isinstance(protocol, str) else protocol.changed(**changes)
    trained = train_seeds(VectorSeedTrainer(task, spec, named), range(seeds), on=on, progress=progress)
    best = trained.best()
    certificate = examine(best.model, task, progress=progress).certificate
    return BestOnVectors(trained.models, best, certificate, task.origin, time.perf_counter() - began, spec)
