"""Training from several seeds: the model that recalls most is kept and certified.

Kept seeds: one model folder per ended seed, so that an interrupted training resumes.

They are in `NAME.seeds` until the best of all seeds is written to `NAME`. A kept seed is reused only if it was trained
on the same facts, with the same specification, protocol, engine and device.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from rote.arguments import typed
from rote.display import html_pairs
from rote.errors import InputError, details_of, problems, validation_problems
from rote.experiments.executor import HERE
from rote.experiments.ledgers.ledger import FailedTrial
from rote.experiments.seeds import BestModel, SeedTrainer, train_seeds
from rote.experiments.sizing.theory import theorem1_guarantee
from rote.folders import read_folder, write_folder
from rote.interrupts import kept, no_longer_kept
from rote.measure.certificate import examine
from rote.models import AttentionOnly, MlpTransformer, Transformer
from rote.models.model import Model
from rote.models.spec import Spec
from rote.progress import SILENT, Progress
from rote.tasks import Task, TokenTask, require_tokens
from rote.tasks.facts import Facts, facts
from rote.training.protocol import EngineName, Protocol
from rote.training.result import Trained
from rote.training.train import protocol_of, scores_scaled


class Measured(BaseModel):
    """Fields of `Trained` that cannot be recomputed from the weights."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: str
    accuracy: float | None
    sampled_accuracy: float | None
    batch_accuracy: float | None
    loss: float
    diverged_at: int | None
    seconds: float
    curve: list[tuple[float, float]]


@dataclass(frozen=True)
class KeptSeeds:
    """The folder of ended seeds of one training."""

    folder: Path
    task: TokenTask
    spec: Spec
    protocol: Protocol
    engine: str
    device: str

    @staticmethod
    def beside(output: str | Path) -> Path:
        """The folder of kept seeds for a model that will be written to `output`."""
        output = Path(output)
        return output.with_name(f"{output.name}.seeds")

    def write(self, trained: Trained) -> None:
        """Write a model that ended, completely or not at all."""
        measured = {name: getattr(trained, name) for name in Measured.model_fields} | {"curve": trained.curve.tolist()}
        self._refuse_link()
        provenance = {"training": self._identity, "seed": trained.seed, "measured": measured}
        write_folder(self._path(trained.seed), trained.model, self.task.origin, provenance, None, overwrite=True)
        kept(self.folder)

    def read(self, seeds: Iterable[int]) -> dict[int, Trained]:
        """The kept models of these seeds. Seeds of another training are rejected, never mixed in."""
        self._refuse_link()
        ended = {}
        for seed in seeds:
            path = self._path(seed)
            if path.exists():
                stored = read_folder(path)
                if stored.provenance.get("training") != self._identity:
                    raise InputError(
                        f"{self.folder}: keeps seeds of another training (other facts, sizes or protocol); "
                        "remove it, or choose another `output`"
                    )
                ended[seed] = self._trained(stored.model, seed, stored.provenance.get("measured"))
        return ended

    def remove(self) -> None:
        """Delete the folder once the best model is written. It is renamed first, so a kill leaves no partial seed."""
        no_longer_kept(self.folder)
        aside = self.folder.with_name(f".{self.folder.name}.part")
        shutil.rmtree(aside, ignore_errors=True)
        if self.folder.exists():
            self.folder.rename(aside)
            shutil.rmtree(aside, ignore_errors=True)

    def _path(self, seed: int) -> Path:
        return self.folder / f"seed-{seed}"

    @property
    def _identity(self) -> dict[str, Any]:
        identity = {
            "facts": self.task.fingerprint,
            "spec": self.spec.to_config(),
            "protocol": self.protocol.model_dump(mode="json"),
            "engine": self.engine,
            "device": self.device,
        }
        # As read back from JSON: tuples have become lists.
        return json.loads(json.dumps(identity))

    def _refuse_link(self) -> None:
        if self.folder.is_symlink():
            raise InputError(f"{self.folder}: is a link, which rote does not write; remove it")

    def _trained(self, model: Model, seed: int, stated: Any) -> Trained:
        try:
            measured = Measured.model_validate(stated)
        except ValidationError as error:
            wrong = validation_problems(details_of(error), Measured.model_fields, options=False)
            raise problems(f"{self._path(seed)}: not as rote writes it; remove {self.folder}", wrong) from None
        if model.spec != self.spec:
            raise InputError(f"{self._path(seed)}: is a model of other sizes; remove {self.folder}")
        curve = np.array(measured.curve).reshape(-1, 2)
        model = Model(model.spec, model.weights, self.task.vocabulary, precision=model.precision)
        numbers = measured.model_dump(exclude={"curve"})
        return Trained(model=model, seed=seed, protocol=self.protocol, curve=curve, **numbers)


@dataclass(frozen=True)
class BestOfSeeds(BestModel[Trained]):
    """Trained models of one task and specification, and the certificate of the best.

    >>> import rote, tempfile
    >>> spec = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
    >>> best = rote.train_best("random:vocab=6,context=2,facts=9,seed=1", spec, seeds=1, steps=20)
    >>> rote.load(best.save(tempfile.mkdtemp() + "/model")).provenance["protocol"]["steps"]
    20
    """

    failed: tuple[FailedTrial, ...] = ()
    """Seeds whose training failed, with the reasons."""
    kept: KeptSeeds | None = field(default=None, repr=False)
    """Where ended seeds are kept until the best is saved."""

    def _repr_html_(self) -> str:
        return html_pairs(
            f"best of {len(self.models)} models trained on {self.origin.source}", self.certificate.shown()
        )

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Write the best model as a model folder with its certificate, and remove the kept seeds."""
        path = super().save(folder, overwrite)
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
            "bits_per_weight_bit": None if certificate.bits is None else certificate.bits / (8 * self.best.model.bytes),
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
    if kept is not None and all(trained.diverged for trained in models):
        kept.remove()
    best = trained.best()
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
