"""Training from several seeds: the model that recalls most is kept and certified."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from rote.arguments import typed
from rote.display import html_pairs
from rote.errors import CheckFailed, InputError
from rote.experiments.executor import HERE
from rote.experiments.kept_seeds import KeptSeeds
from rote.experiments.ledgers.ledger import FailedTrial
from rote.experiments.seeds import SeedTrainer, train_seeds
from rote.experiments.sizing.theory import theorem1_guarantee
from rote.folders import write_folder
from rote.measure.certificate import Certificate, examine
from rote.models.attention_only import AttentionOnly, Transformer
from rote.models.mlp_transformer import MlpTransformer
from rote.progress import SILENT, Progress
from rote.tasks import Task, require_tokens
from rote.tasks.facts import Facts, facts
from rote.tasks.origin import Origin
from rote.training.protocol import EngineName, Protocol
from rote.training.result import Trained
from rote.training.train import protocol_of, scores_scaled


@dataclass(frozen=True)
class BestOfSeeds:
    """Trained models of one task and specification, and the certificate of the best.

    >>> import rote, tempfile
    >>> spec = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
    >>> best = rote.train_best("random:vocab=6,context=2,facts=9,seed=1", spec, seeds=1, steps=20)
    >>> rote.load(best.save(tempfile.mkdtemp() + "/model")).provenance["protocol"]["steps"]
    20
    """

    models: tuple[Trained, ...]
    """One per seed that ended, in the order of the seeds."""
    best: Trained
    certificate: Certificate
    origin: Origin
    seconds: float
    """Wall-clock time of training."""
    failed: tuple[FailedTrial, ...] = ()
    """Seeds whose training failed, with the reasons."""
    kept: KeptSeeds | None = field(default=None, repr=False)
    """Where ended seeds are kept until the best is saved."""

    @property
    def diverged(self) -> int:
        return sum(trained.diverged for trained in self.models)

    def _repr_html_(self) -> str:
        return html_pairs(
            f"best of {len(self.models)} models trained on {self.origin.source}", self.certificate.shown()
        )

    @property
    def provenance(self) -> dict[str, Any]:
        return {
            "method": "training",
            "protocol": self.best.protocol.model_dump(mode="json"),
            "seed": self.best.seed,
            "seeds": len(self.models),
            "engine": self.best.engine,
        }

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Write the best model as a model folder with its certificate, and remove the kept seeds."""
        path = write_folder(
            Path(folder), self.best.model, self.origin, self.provenance, self.certificate, overwrite=overwrite
        )
        if self.kept is not None:
            self.kept.remove()
        return path

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        certificate, spec = self.certificate, self.best.model.spec
        return {
            "spec": spec.to_config(),
            "protocol": self.best.protocol.model_dump(mode="json"),
            "engine": self.best.engine,
            "facts": certificate.facts,
            "recalled": certificate.recalled,
            "recall": certificate.recalled / certificate.facts,
            "ceiling": certificate.recallable / certificate.facts,
            "min_margin": certificate.min_margin,
            "divergence": certificate.divergence,
            "parameters": certificate.parameters,
            "bits_per_parameter": certificate.bits_per_parameter,
            "guaranteed": theorem1_guarantee(spec),
            "best_seed": self.best.seed,
            "diverged": self.diverged,
            "failed": [{"seed": trial.key.seed, "reason": trial.reason} for trial in self.failed],
            "models": [trained.summary() for trained in self.models],
            "seconds": round(self.seconds, 3),
        }


@typed
def train_best(
    task: Facts,
    spec: Transformer,
    seeds: int = 5,
    protocol: str | Protocol = "fast",
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    device: str = "cpu",
    on: str = HERE,
    keep: str | Path | None = None,
    progress: Progress = SILENT,
    **changes: Any,
) -> BestOfSeeds:
    """The best of `seeds` models trained as by `rote.train`, with a certificate of what it recalls.

    The best model recalls most facts; ties are broken by the smaller loss, then by the smaller seed. `on` names the
    executor: `here`, `ray`, or the address of a Ray cluster. With `keep`, a folder, each model is written there as
    soon as it ends and the same call resumes from it; saving the best model removes the folder.

    >>> import rote
    >>> spec = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
    >>> best = rote.train_best("random:vocab=6,context=2,facts=9,seed=1", spec, seeds=2, steps=300)
    >>> best.certificate.recalled == max(round(9 * trained.accuracy) for trained in best.models)
    True
    """
    task = require_tokens(facts(task), "training takes associations or distributions over tokens")
    if seeds < 1:
        raise InputError(f"`seeds={seeds}`: must be at least 1")
    spec, protocol = scores_scaled(spec), protocol_of(protocol, spec, task, **changes)
    kept = None if keep is None else KeptSeeds(Path(keep), task, spec, protocol, engine, device)
    began = time.perf_counter()
    trained = train_seeds(
        SeedTrainer(task, spec, protocol, engine, device), range(seeds),
        ended=None if kept is None else kept.read(range(seeds)), on_end=None if kept is None else kept.write,
        on=on, workers=workers, progress=progress,
    )  # fmt: skip
    models, seconds = trained.models, time.perf_counter() - began
    order = [(trained.accuracy, -trained.loss, -trained.seed, trained) for trained in models if not trained.diverged]
    if not order:
        if kept is not None:
            kept.remove()
        steps = ", ".join(f"seed {trained.seed} at step {trained.diverged_at}" for trained in models)
        raise CheckFailed(
            f"training diverged in every seed ({steps}); nothing was written. "
            f"Lower the learning rate (`peak`, now {models[0].protocol.peak:g}), or add `steps`"
        )
    best = max(order, key=lambda ranked: ranked[:3])[-1]
    certificate = examine(best.model, task, progress=progress).certificate
    return BestOfSeeds(models, best, certificate, task.origin, seconds, trained.failed, kept)


def trainable_spec(
    task: Task,
    *,
    dim: int,
    heads: int,
    head_dim: int | None = None,
    layers: int = 1,
    width: int | None = None,
    variant: Literal["per-head", "shared"] = "per-head",
) -> Transformer:
    """The specification of a model to train on a task: attention only, or with an MLP of `width` after each layer.

    Default of `head_dim`: `dim`.
    """
    task = require_tokens(task, "training takes associations or distributions over tokens")
    sizes: dict[str, Any] = {
        "vocab": task.vocab, "context": task.context, "dim": dim, "head_dim": head_dim or dim, "heads": heads,
        "layers": layers,
    }  # fmt: skip
    if width is None:
        return AttentionOnly(variant=variant, **sizes)
    if variant != "per-head":
        raise InputError(
            f"`variant={variant}`: models with an MLP have per-head matrices; leave out `variant` or `width`"
        )
    return MlpTransformer(width=width, **sizes)
