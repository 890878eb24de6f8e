"""Train query attention on a vector task from several seeds, keep the best model, and certify it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.errors import CheckFailed, InputError
from rote.experiments.executor import HERE
from rote.experiments.seeds import VectorSeedTrainer, train_seeds
from rote.folders import write_folder
from rote.measure.certificate import Certificate, examine
from rote.models.query_attention import QueryAttention
from rote.progress import SILENT, Progress
from rote.tasks import VectorTask
from rote.tasks.origin import Origin
from rote.training.query_attention.protocol import VectorProtocol, vector_protocol
from rote.training.query_attention.train import VectorTrained


@dataclass(frozen=True)
class BestOnVectors:
    """Trained models of one vector task and specification, and the certificate of the best."""

    models: tuple[VectorTrained, ...]
    """One a seed, in the order of the seeds."""
    best: VectorTrained
    spec: QueryAttention
    certificate: Certificate
    origin: Origin
    seconds: float

    @property
    def guaranteed(self) -> int:
        """H(min(n, k) - 1) + 1 examples: Theorem 1 of Mahdavi et al. 2024."""
        return self.spec.heads * (min(self.spec.context, self.spec.head_dim) - 1) + 1

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Write the best model as a model folder, with its certificate."""
        provenance = {
            "method": "training",
            "protocol": self.best.protocol.model_dump(mode="json"),
            "seed": self.best.seed,
            "seeds": len(self.models),
            "engine": self.best.engine,
        }
        return write_folder(
            Path(folder), self.best.model, self.origin, provenance, self.certificate, overwrite=overwrite
        )

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
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
            "diverged": sum(trained.diverged for trained in self.models),
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
    models = train_seeds(VectorSeedTrainer(task, spec, named), range(seeds), on=on, progress=progress).models
    ended = [trained for trained in models if not trained.diverged]
    if not ended:
        steps = ", ".join(f"seed {trained.seed} at step {trained.diverged_at}" for trained in models)
        raise CheckFailed(
            f"training diverged in every seed ({steps}); nothing was written. "
            f"Lower the learning rate (`peak`, now {models[0].protocol.peak:g})"
        )
    best = min(ended, key=lambda trained: (-(trained.accuracy or 0.0), trained.loss, trained.seed))
    certificate = examine(best.model, task, progress=progress).certificate
    return BestOnVectors(models, best, spec, certificate, task.origin, time.perf_counter() - began)
