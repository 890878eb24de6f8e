"""`rote lm assumptions`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rote.cli.options import LoadingOptions, bars, counted_as_parameters, load_language_model
from rote.cli.output import AsJson, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from rote.lm.assumptions import Assumptions
    from rote.lm.geometry import SampleFraction


def assumptions(
    model: Path,
    /,
    *,
    text: Path | None = None,
    passages: int | None = None,
    tokens: int = 32,
    subsets: int = 200,
    batch: int = 16,
    seed: int = 0,
    figure: Path | None = None,
    loading: LoadingOptions | None = None,
    as_json: AsJson = False,
) -> None:
    """Test the theorems' assumptions inside a language model, layer by layer.

    Reads passages of text. Per layer it measures the rank and the Kruskal rank of the queries, the rank of the
    contexts, the separation of tokens and the saturation of attention, and names the theorems whose assumptions hold.

    Example: `rote lm assumptions gpt2 --tokens 16`

    Parameters
    ----------
    model
        A Hugging Face folder, a GGUF file, or a name in the local cache.
    text
        Text file to read. Default: the topics of Python's language reference.
    passages
        Number of passages. Default: 10 % more than the model has dimensions.
    tokens
        Tokens per passage, n in the papers.
    subsets
        Random subsets of n queries that are tested for the Kruskal rank.
    batch
        Passages per forward pass.
    seed
        Seed of the random subsets.
    figure
        Also draw the layers, as this PNG or SVG file.
    """
    from rote.charts.drawing import SUFFIXES, write_chart
    from rote.errors import InputError
    from rote.lm.assumptions import lm_assumptions as measure
    from rote.lm.passages import read_text, standard_text
    from rote.lm.weight_files import is_rote_folder

    if figure is not None and figure.suffix not in SUFFIXES:
        raise InputError(f"`figure`: {figure} must end in {' or '.join(SUFFIXES)}")
    if is_rote_folder(model):
        raise InputError(f"{model}: a rote model reads its own tokens, not text; `rote bounds` shows its conditions")
    words = standard_text() if text is None else read_text(text)
    result = measure(
        load_language_model(model, loading, attentions=True), words, number=passages, tokens=tokens, subsets=subsets,
        batch=batch, seed=seed, progress=bars(),
    )  # fmt: skip
    drawn = None if figure is None else str(write_chart(result.chart(), figure))
    if as_json:
        print_json({**result.summary(), "figure": drawn})
        return
    _show(result, drawn)


def _show(found: Assumptions, drawn: str | None) -> None:
    print_table(
        f"{found.model}: {found.passages} passages of {found.tokens} tokens, d = {found.dim}, the query is the "
        f"{found.query} token",
        [
            "layer", "query rank", f"{found.tokens} independent", f"{found.dim} independent",
            f"contexts of rank {found.tokens}", "condition", "r", "delta", "saturated", "assumptions that hold",
        ],
        [
            [
                layer.number, layer.query_rank, _share(layer.queries_independent), _share(layer.general_position),
                _share(layer.contexts_full), layer.context_condition, layer.tokens.radius, layer.tokens.distance,
                None if layer.saturated is None else f"{layer.saturated:.1%}",
                ", ".join(name for name, holds in layer.holds(found.tokens, found.dim).items() if holds) or "none",
            ]
            for layer in found.layers
        ],
    )  # fmt: skip
    pairs = {"parameters": counted_as_parameters(found.parameters)}
    if found.look_up is not None:
        look_up = found.look_up
        pairs |= {
            "entropy of the next token": f"{look_up.entropy_bits:.2f} bits, the likeliest has {look_up.likeliest:.1%}",
            "dana2025.theorem2": f"needs dim >= {look_up.dim_needed}, so it says nothing here; its expectation without "
            f"the factor is {look_up.expectation:.3g} nats"
            if look_up.bound is None
            else f"divergence at most {look_up.bound:.3g} nats",
        }
    print_pairs("model", {**pairs, **({"figure": drawn} if drawn else {})})


def _share(share: SampleFraction | None) -> str:
    """A share with its interval, or why there is none."""
    if share is None:
        return "too few"
    low, high = share.interval
    return f"{share.value:.3g} ({low:.3g}-{high:.3g})"
