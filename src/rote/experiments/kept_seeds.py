"""Kept seeds: one model folder per ended seed, so that an interrupted training resumes.

They are in `NAME.seeds` until the best of all seeds is written to `NAME`. A kept seed is reused only if it was trained
on the same facts, with the same specification, protocol, engine and device.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rote.errors import InputError
from rote.folders import read_folder, write_folder
from rote.interrupts import kept, no_longer_kept
from rote.models.model import Model
from rote.models.spec import Spec
from rote.tasks import TokenTask
from rote.training.protocol import Protocol
from rote.training.result import Trained

MEASURED = ("engine", "accuracy", "sampled_accuracy", "batch_accuracy", "loss", "diverged_at", "seconds")
"""Fields of `Trained` that cannot be recomputed from the weights."""


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
        measured = {name: getattr(trained, name) for name in MEASURED} | {"curve": trained.curve.tolist()}
        provenance = {"training": self._identity, "seed": trained.seed, "measured": measured}
        write_folder(self._path(trained.seed), trained.model, self.task.origin, provenance, None, overwrite=True)
        kept(self.folder)

    def read(self, seeds: Iterable[int]) -> dict[int, Trained]:
        """The kept models of these seeds. Seeds of another training are rejected, never mixed in."""
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
                ended[seed] = self._trained(stored.model, seed, stored.provenance["measured"])
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

    def _trained(self, model: Model, seed: int, measured: dict[str, Any]) -> Trained:
        numbers = {name: measured[name] for name in MEASURED}
        curve = np.array(measured["curve"]).reshape(-1, 2)
        model = Model(model.spec, model.weights, self.task.vocabulary)
        return Trained(model=model, seed=seed, protocol=self.protocol, curve=curve, **numbers)
