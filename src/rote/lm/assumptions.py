"""Do the theorems' assumptions hold inside this model? Layer by layer, on real text.

Passages of n tokens are read. At each layer (0 is the embedding, l what block l gives) a passage's n vectors are its
*context*, and one of them is its *query*: the first token's for an encoder, the last token's for a causal model.

| theorem | what it assumes | measured |
|---|---|---|
| mahdavi2024.theorem1 | every n queries independent, contexts of rank n, n < d | random n-subsets, ranks |
| kajitsuka2025.theorem4_1 | tokens (r, delta)-separated | the largest norm, the smallest distance |
| madden2025.lower | different contexts give different features | the smallest distance of queries |
| dana2025.theorem2 | next-token distributions near look-up, d > 128 ln(N + 1) | entropy, the bound |
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor

from rote.arguments import typed
from rote.charts import ChartSeries, Mark, Panels, XYChart
from rote.charts.plotting import Plotted
from rote.errors import InputError
from rote.lm.geometry import (
    LookUp,
    SampleFraction,
    Separation,
    full_rank_contexts,
    independent_share,
    look_up,
    rank,
    separation,
)
from rote.lm.language_model import LanguageModel, ParameterCount
from rote.lm.passages import passages, standard_text
from rote.progress import SILENT, Progress

SATURATED = 0.99
"""A head is saturated at a token when one weight exceeds this (Mahdavi et al. 2024)."""
GENERAL_SUBSETS = 10
"""Subsets of d queries that are tried for general position."""
SEPARATED_TOKENS = 512
"""Tokens whose distances are taken."""


@dataclass(frozen=True)
class LayerAssumptions:
    """What one layer gives."""

    number: int
    query_rank: int
    queries_independent: SampleFraction | None
    """Of n queries, as Theorem 1 of Mahdavi et al. asks."""
    general_position: SampleFraction | None
    """Of d queries."""
    contexts_full: SampleFraction
    """Contexts of rank n."""
    context_condition: float
    """Median condition number of a context."""
    tokens: Separation
    queries: Separation
    saturated: float | None
    """Share of heads and tokens with a weight above 0.99, in the block that gave this layer; None for the embedding."""

    def holds(self, tokens: int, dim: int) -> dict[str, bool]:
        """Which theorem's assumptions on this layer's vectors hold, as far as sampled."""
        independent = self.queries_independent is not None and self.queries_independent.all
        return {
            "mahdavi2024.theorem1": independent and self.contexts_full.all and tokens < dim,
            "kajitsuka2025.theorem4_1": math.isfinite(self.tokens.distance),
            "madden2025.lower": math.isfinite(self.queries.distance),
        }


@dataclass(frozen=True)
class Assumptions(Plotted):
    """A found model."""

    model: str
    parameters: ParameterCount
    dim: int
    passages: int
    tokens: int
    query: str
    """Which token is the query: first or last."""
    layers: tuple[LayerAssumptions, ...]
    look_up: LookUp | None
    """Next-token distributions; none for an encoder."""

    def chart(self) -> Panels:
        """Left: shares that should be one, and the rank of the queries. Right: separation and condition, by layer."""
        return _chart(self)

    def summary(self) -> dict[str, Any]:
        """The numbers, by the names the command line prints."""
        return {
            "model": self.model,
            "parameters": self.parameters.total,
            "embedding_parameters": self.parameters.embeddings,
            "dim": self.dim,
            "passages": self.passages,
            "tokens": self.tokens,
            "query": self.query,
            "layers": [
                {
                    "layer": layer.number,
                    "query_rank": layer.query_rank,
                    "queries_independent": _share(layer.queries_independent),
                    "general_position": _share(layer.general_position),
                    "contexts_full": _share(layer.contexts_full),
                    "context_condition": layer.context_condition,
                    "radius": layer.tokens.radius,
                    "distance": layer.tokens.distance,
                    "query_distance": layer.queries.distance,
                    "saturated": layer.saturated,
                    "holds": layer.holds(self.tokens, self.dim),
                }
                for layer in self.layers
            ],
            "look_up": None if self.look_up is None else asdict(self.look_up),
        }


@dataclass
class _Gathered:
    """What is kept of one layer while passages go by."""

    queries: list[Tensor] = field(default_factory=list)
    tokens: list[Tensor] = field(default_factory=list)
    conditions: list[Tensor] = field(default_factory=list)
    full: int = 0
    saturated: list[float] = field(default_factory=list)


@typed
def lm_assumptions(
    model: LanguageModel,
    text: str | None = None,
    *,
    number: int | None = None,
    tokens: int = 32,
    subsets: int = 200,
    batch: int = 16,
    seed: int = 0,
    progress: Progress = SILENT,
) -> Assumptions:
    """Run a model on `number` passages of `tokens` tokens each and measure every layer.

    The model must have been loaded with `attentions`. Without a number, a tenth more passages than the model has
    dimensions, so that general position can be tried; `subsets` random subsets are drawn for the Kruskal rank. Without
    a text, one that comes with Python.

    >>> import rote, tempfile
    >>> capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
    >>> folder = rote.export_model(rote.build(capitals), "llama", tempfile.mkdtemp() + "/llama", facts=capitals).path
    >>> model = rote.load_language_model(folder, attentions=True)
    >>> rote.lm_assumptions(model, "capital France", number=4)  # a text of two tokens, asked for four passages of 32
    Traceback (most recent call last):
    rote.errors.InputError: `text`: 4 passages of 32 tokens need 128 tokens, given 2; give a longer text, ...
    """
    refused = [
        f"`{name}`: {value} is too few; give at least {least}"
        for name, value, least in (("tokens", tokens, 4), ("subsets", subsets, 1), ("batch", batch, 1))
        if value < least
    ]
    if number is not None and number < 2:
        refused.append(f"`passages`: {number} is too few; give at least 2")
    if refused:
        raise InputError("; ".join(refused))
    dim = int(getattr(model.module.config, "hidden_size", 0))
    heads = getattr(model.module.config, "num_attention_heads", None)
    if not heads:
        raise InputError(
            f"{model.name}: {type(model.module).__name__} has no attention, which the theorems speak of; give a model "
            "that has"
        )
    number = number or math.ceil(1.1 * dim)
    ids = passages(model, standard_text() if text is None else text, number, tokens)
    position = 0 if model.kind == "encoder" else -1
    gathered: list[_Gathered] = []
    logits = []
    # The same tokens at every layer, from all places of a passage.
    chosen = torch.randperm(number * tokens, generator=torch.Generator().manual_seed(seed))[:SEPARATED_TOKENS]
    sampled = torch.zeros(number * tokens, dtype=torch.bool)
    sampled[chosen] = True
    with progress.stage(f"reading {number} passages", number) as stage:
        for part, marked in zip(ids.split(batch), sampled.view(number, tokens).split(batch), strict=True):
            logits += _gather(model, part, position, gathered, marked)
            stage.advance(len(part))
    with progress.stage("layers", len(gathered)) as stage:
        layers = []
        for layer, kept in enumerate(gathered):
            layers.append(_layer(layer, kept, tokens, subsets, seed))
            stage.advance()
    return Assumptions(
        model=model.name, parameters=model.parameters, dim=dim, passages=number, tokens=tokens,
        query="first" if position == 0 else "last", layers=tuple(layers),
        look_up=look_up(torch.cat(logits), dim) if logits else None,
    )  # fmt: skip


@torch.inference_mode()
def _gather(
    model: LanguageModel, ids: Tensor, position: int, gathered: list[_Gathered], sampled: Tensor
) -> list[Tensor]:
    """Read some passages; the next-token logits after each, where the model has such."""
    out = model.module(ids.to(model.device), output_hidden_states=True, output_attentions=True)
    if not out.attentions or out.attentions[0] is None:
        raise InputError(f"{model.name}: {type(model.module).__name__} does not tell its attention weights")
    if not gathered:
        gathered += [_Gathered() for _ in out.hidden_states]
    for number, (kept, hidden) in enumerate(zip(gathered, out.hidden_states, strict=True)):
        states = hidden.float().cpu()
        kept.queries.append(states[:, position])
        kept.tokens.append(states[sampled])
        full, conditions = full_rank_contexts(states)
        kept.full += full
        kept.conditions.append(conditions)
        if number:
            # A causal model's first token attends to itself alone, whatever the weights: it is left out.
            weights = out.attentions[number - 1][:, :, 1:]
            kept.saturated.append(float((weights.amax(-1) > SATURATED).float().mean()) * len(ids))
    return [out.logits[:, -1].float().cpu()] if model.kind == "causal" else []


def _layer(number: int, kept: _Gathered, tokens: int, subsets: int, seed: int) -> LayerAssumptions:
    queries, conditions = torch.cat(kept.queries), torch.cat(kept.conditions)
    dim, count = queries.shape[1], len(queries)
    return LayerAssumptions(
        number=number,
        query_rank=rank(queries),
        queries_independent=independent_share(queries, tokens, subsets, seed),
        general_position=independent_share(queries, dim, GENERAL_SUBSETS, seed),
        contexts_full=SampleFraction(kept.full, count),
        context_condition=float(conditions.median()),
        tokens=separation(torch.cat(kept.tokens)),
        queries=separation(queries[:SEPARATED_TOKENS]),
        saturated=sum(kept.saturated) / count if kept.saturated else None,
    )


def _share(share: SampleFraction | None) -> dict[str, Any] | None:
    if share is None:
        return None
    return {"share": share.value, "interval": list(share.interval), "samples": share.samples}


def _chart(found: Assumptions) -> Panels:
    """Left: shares that should be one, and the rank of the queries. Right: separation and condition, by layer."""
    layers = found.layers
    most = min(found.passages, found.dim)
    shares = [
        _joined("rank of queries, of the most", [(layer.number, layer.query_rank / most) for layer in layers], "blue"),
        _joined(
            f"contexts of rank {found.tokens}", [(layer.number, layer.contexts_full.value) for layer in layers], "green"
        ),
    ]
    for name, tone, count in (
        ("queries_independent", "orange", found.tokens), ("general_position", "purple", found.dim),
    ):  # fmt: skip
        estimates = [(layer.number, share) for layer in layers if (share := getattr(layer, name))]
        marks = [Mark(at, share.value, interval=(share.interval.low, share.interval.high)) for at, share in estimates]
        if marks:
            shares.append(ChartSeries(f"{count} queries independent", marks, "joined", tone, shape="down"))
    saturated = [Mark(layer.number, layer.saturated) for layer in layers if layer.saturated is not None]
    shares.append(ChartSeries("saturated attention (> 0.99)", saturated, "crosses", "vermilion"))
    sizes = [
        _joined("r / delta, tokens", [(layer.number, layer.tokens.radius / layer.tokens.distance) for layer in layers]),
        _joined(
            "condition of a context, median", [(layer.number, layer.context_condition) for layer in layers], "green"
        ),
    ]
    return Panels(
        f"{found.model}: {found.passages} passages of {found.tokens} tokens, d = {found.dim}",
        [
            XYChart("shares", "layer (0: embedding)", "share", shares, y_range=(-0.03, 1.05)),
            XYChart("separation and condition", "layer (0: embedding)", "", sizes, log_y=True),
        ],
    )


def _joined(name: str, points: list[tuple[int, float]], tone: str = "blue") -> ChartSeries:
    marks = [Mark(x, y) for x, y in points]
    return ChartSeries(name, marks, "joined", tone, shape="disc" if tone == "blue" else "square")
