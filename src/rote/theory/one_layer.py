"""The condition that most results about attention share: one layer, whose heads read all of R^d."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly


def not_one_layer(spec: AttentionOnly) -> str | None:
    """Why a result about one layer of equation (2) says nothing about this specification, if so."""
    if spec.layers != 1:
        return f"the result is about one layer, given {spec.layers}"
    if spec.compressed:
        return (
            "the result is about heads that read all of R^d, variant per-head; given variant shared, whose heads sit "
            f"behind one compression to {spec.head_dim} dimensions"
        )
    if spec.positions == "attention":
        return (
            "the result is about positions that are added to the tokens, positions stream; given positions attention, "
            "which the skip connection leaves out"
        )
    return None
