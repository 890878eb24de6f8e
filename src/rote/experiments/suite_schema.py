"""The manifest of a suite of models, and the file of ground truth beside each of them: what they say, as a schema.

`suite.schema.json` in this package is made from these classes (`schema()`), and a copy stands in every suite.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

FORMAT = 3
MANIFEST, SCHEMA, TRUTH = "manifest.json", "schema.json", "truth.json"


class Part(BaseModel):
    """What one part of a model adds to two logits of a fact."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    to_answer: float
    """Added to the logit of the fact's answer."""
    to_nearest: float
    """Added to the logit of the best other answer; the difference is added to the margin."""


class FactTruth(BaseModel):
    """One fact in one model. The skip connection, heads and MLPs add up to both logits."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    key: tuple[str, ...]
    answer: str
    nearest: str
    """The best other answer."""
    margin: float
    """The answer's logit less the nearest's, in float64; above 0 where the fact is recalled."""
    skip: Part
    heads_to_answer: tuple[tuple[float, ...], ...]
    """What every head adds to the answer's logit, a row per layer."""
    heads_to_nearest: tuple[tuple[float, ...], ...]
    """What every head adds to the nearest answer's logit, a row per layer."""
    mlps: tuple[Part, ...]
    """What every layer's MLP adds; empty where there are none."""
    heads_ablated: tuple[tuple[float, ...], ...]
    """The margin without each head (zero-ablation), a row per layer: an intervention to score attribution against."""
    mlps_ablated: tuple[float, ...]
    """The margin without each layer's MLP; empty where there are none."""
    held_by: tuple[tuple[int, ...], ...]
    """Heads that hold the fact by construction, a row per layer: their output is not zero and they attend, on this key,
    to some token before the last. The weights are these heads' rows of the solved tensors, and the answer's row of the
    unembedding. Empty in models whose MLP holds the facts: there the solved tensor is the MLP's output matrix."""


class ModelTruth(BaseModel):
    """`truth.json`: every fact in one model, in the order of the table."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    format: int
    model: str
    facts: tuple[FactTruth, ...]


class SuiteModel(BaseModel):
    """One model of a suite."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    id: str
    """Name of its folder: `source` in it is the model folder, and every exported format has a folder beside it."""
    method: str
    """Id of the construction."""
    seed: int
    load: float
    """Requested load: facts divided by capacity."""
    capacity: int
    """Associations that a result guarantees for this shape: H k + d (Theorem 1 of Dana et al. 2025), or one per neuron
    of an MLP (Madden et al. 2025)."""
    spec: dict[str, Any]
    """Architecture and sizes."""
    parameters: int
    dtype: str
    facts: int
    recalled: int
    min_margin: float
    margin_rounding: float
    """Largest change of a margin between this dtype and float64, as a share of the smallest margin."""
    weights_fingerprint: str
    drawn: tuple[str, ...]
    """Tensors that were drawn at random before any answer was seen."""
    solved: tuple[str, ...]
    """Tensors that the answers determine: they hold the facts."""
    formats: tuple[str, ...]
    """Folders in other tools' formats, each with its own certificate."""


class Rejected(BaseModel):
    """A combination of method, shape and load of which no model was made."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    id: str
    reason: str


class SuiteManifest(BaseModel):
    """`manifest.json`: what was stored, and the models that store it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    format: int
    source: str
    """Where the facts came from, as `rote build` takes it."""
    facts_fingerprint: str
    facts: int
    models: tuple[SuiteModel, ...]
    rejected: tuple[Rejected, ...]


def schema() -> dict[str, Any]:
    """JSON Schema of both files: of the manifest, with that of `truth.json` under `$defs/ModelTruth`."""
    manifest, truth = SuiteManifest.model_json_schema(), ModelTruth.model_json_schema()
    inner = truth.pop("$defs")
    definitions = {**manifest.pop("$defs"), **inner, "ModelTruth": truth}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **manifest,
        "$defs": dict(sorted(definitions.items())),
    }
