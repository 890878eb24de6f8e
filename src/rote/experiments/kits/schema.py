"""The manifest of a kit: what its models hold, and what differs between them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

FORMAT = 1
MANIFEST = "kit.json"

Purpose = Literal["tofu", "counterfact", "interpbench"]


class KitModel(BaseModel):
    """One model of a kit."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    id: str
    """`models/ID` is the model folder, `models/ID-llama` the plain checkpoint."""
    holds: str
    """Which facts it stores."""
    facts: int
    recalled: int
    """Facts recalled by its own dtype, of those that it stores."""
    sentences: int
    """Sentences, of all facts and templates, that stock transformers reads as the key they stand for."""
    generated: int
    """Of all facts of the table, those whose complete answer stock transformers generates greedily from text."""
    weights_fingerprint: str


class TensorChange(BaseModel):
    """One tensor that differs between two models."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str
    entries: int
    different: int
    largest: float
    rank: int | None


class KitDifference(BaseModel):
    """What differs between two models, by construction: tensors that are not named are equal bit for bit."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    first: str
    second: str
    tensors: tuple[TensorChange, ...]
    largest_margin_change: float | None
    """Over the facts that both models answer alike."""


class KitManifest(BaseModel):
    """`kit.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    format: int
    source: str
    facts_fingerprint: str
    facts: int
    """Facts of the table, those held out included."""
    seed: int
    method: str
    templates: tuple[str, ...]
    purposes: tuple[Purpose, ...]
    gain: float
    """What the logits of every checkpoint are multiplied by."""
    forget: tuple[tuple[str, ...], ...]
    """Keys of the facts that the retain model never stored and the edited one answers otherwise."""
    counterfactual: tuple[str, ...]
    """What the edited model answers to them."""
    holdout: tuple[tuple[str, ...], ...]
    """Keys of the facts that no model stores."""
    models: tuple[KitModel, ...]
    differences: tuple[KitDifference, ...]
