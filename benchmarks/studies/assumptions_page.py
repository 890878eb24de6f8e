"""A page: do the assumptions of the three papers hold inside these models, layer by layer?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rote.charts.drawing import write_chart
from rote.experiments.files import write_text
from rote.lm.assumptions import Assumptions, LayerAssumptions
from rote.lm.geometry import SampleFraction
from rote.report.markdown import table_lines
from studies.published_assumptions import PUBLISHED_ASSUMPTIONS

INTRODUCTION = """\
Theorems about memorization assume something of the vectors that attention reads: that contexts are of full rank, that
queries are independent, that tokens keep a distance. Is that so inside real models? Passages of text are read; at every
layer (0 is the embedding, l what block l gives) the n vectors of a passage are its *context*, and one of them is its
*query*: the first token's in an encoder, the last one's in a causal model.

| paper | theorem | assumes |
|---|---|---|
| Mahdavi, Liao and Thrampoulidis 2024 | Theorem 1 | every n queries independent (Assumption 1), contexts of rank n \
(Assumption 2), n < d |
| Kajitsuka and Sato 2025 | Theorem 4.1 | tokens no longer than r and, where they differ, at least delta apart |
| Dana, Pydi and Chevaleyre 2025 | Theorem 2 | next-token distributions near a look-up table, d > 128 ln(N + 1) |

Ranks are in float32 with torch's default tolerance, shares are over random subsets, with Wilson's 95 % interval.
Assumption 1 is about every n queries: a sample of subsets can refute it, or bound the share of subsets that violate
it (none of 200 means at most 1.9 %), and cannot prove it."""


def write_assumptions_page(probes: Sequence[tuple[str, Assumptions]], page: Path, command: str) -> list[Path]:
    """Write the page and a figure per model beside it; names are as readers know the models."""
    written = []
    lines = ["# The theorems' assumptions inside language models", "", *INTRODUCTION.splitlines(), "", f"`{command}`"]
    for name, probed in probes:
        drawn = page.with_name(f"{page.stem}-{_short(name)}.png")
        written.append(write_chart(replace(probed, model=name).chart(), drawn))
        lines += ["", f"## {name}", "", *_model(probed), "", f"![{name} by layer]({drawn.name})"]
    lines += [
        "",
        "## Published",
        "",
        "The same, as Mahdavi, Liao and Thrampoulidis (2024) report it of other models:",
        "",
    ]
    lines += table_lines(
        ["model", "n", "d", "n queries independent", "d queries independent", "contexts of rank n"],
        [
            [row.model, row.tokens, row.dim, row.queries_independent, row.general_position, row.contexts_full]
            for row in PUBLISHED_ASSUMPTIONS
        ],
        [False, True, True, False, False, False],
    )
    return [write_text(page, "\n".join(lines) + "\n"), *written]


def _short(name: str) -> str:
    return name.lower().replace(" ", "-")


def _model(probed: Assumptions) -> list[str]:
    n, dim = probed.tokens, probed.dim
    rows = [
        [
            layer.number, layer.query_rank, _share(layer.queries_independent), _share(layer.general_position),
            _share(layer.contexts_full), layer.context_condition, _ratio(layer),
            None if layer.saturated is None else f"{layer.saturated:.1%}",
        ]
        for layer in probed.layers
    ]  # fmt: skip
    return [
        f"{probed.parameters.total:,} parameters (all weights, tied ones once; {probed.parameters.embeddings:,} of "
        f"them in embedding tables), d = {dim}; {probed.passages} passages of n = {n} tokens, the query is the "
        f"{probed.query} token.",
        "",
        *table_lines(
            [
                "layer", f"rank of {probed.passages} queries", f"{n} queries independent",
                f"{dim} queries independent", f"contexts of rank {n}", "condition of a context", "r / delta",
                "saturated attention",
            ],
            rows, [True, True, False, False, False, True, True, True],
        ),
        "",
        *_verdicts(probed),
    ]  # fmt: skip


def _verdicts(probed: Assumptions) -> list[str]:
    first, ratios = _layers(probed, "mahdavi2024.theorem1"), [_ratio(layer) for layer in probed.layers]
    finite = [ratio for ratio in ratios if ratio is not None]
    lines = [
        f"- Mahdavi et al., Theorem 1: both assumptions hold at {first}. General position is "
        + (
            "never reached."
            if not any(layer.general_position and layer.general_position.having for layer in probed.layers)
            else "reached at some layers."
        ),
        f"- Kajitsuka and Sato, Theorem 4.1: tokens are separated at {_layers(probed, 'kajitsuka2025.theorem4_1')}; "
        f"r / delta, of which their parameter count takes the logarithm, lies between {min(finite):,.3g} and "
        f"{max(finite):,.3g}.",
    ]
    look_up = probed.look_up
    if look_up is None:
        lines.append("- Dana et al., Theorem 2: an encoder gives no next-token distributions.")
    else:
        lines.append(
            f"- Dana et al., Theorem 2: the next token has {look_up.entropy_bits:.2f} bits of entropy, its likeliest "
            f"value a probability of {look_up.likeliest:.0%}. "
            + (
                f"The theorem requires d >= {look_up.dim_needed:,} and says nothing at d = {probed.dim}; without its "
                f"factor its bound would be {look_up.expectation:.3g} nats."
                if look_up.bound is None
                else f"The theorem bounds the divergence by {look_up.bound:.3g} nats."
            )
        )
    return lines


def _layers(probed: Assumptions, theorem: str) -> str:
    """The layers at which a theorem's assumptions hold, in words."""
    holding = [layer.number for layer in probed.layers if layer.holds(probed.tokens, probed.dim)[theorem]]
    missing = [layer.number for layer in probed.layers if layer.number not in holding]
    if not holding:
        return "no layer"
    if not missing:
        return "every layer"
    return f"{len(holding)} of {len(probed.layers)} layers, all but {', '.join(map(str, missing))}"


def _ratio(layer: LayerAssumptions) -> float | None:
    ratio = layer.tokens.radius / layer.tokens.distance
    return ratio if math.isfinite(ratio) else None


def _share(share: SampleFraction | None) -> str:
    if share is None:
        return "too few"
    low, high = share.interval
    return f"{share.value:.3g} ({low:.3g}-{high:.3g})"
