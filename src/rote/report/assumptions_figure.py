"""The theorems' assumptions by layer."""

from __future__ import annotations

from pathlib import Path

from rote.lm.assumptions import Assumptions
from rote.report.style import BLUE, GREEN, ORANGE, PURPLE, VERMILION, figure, save


def assumptions_figure(probed: Assumptions, path: Path) -> Path:
    """Above: shares that should be one, and the rank of the queries. Below: separation and condition, by layer."""
    numbers = [layer.number for layer in probed.layers]
    with figure(6.4, 5.2) as drawn:
        shares, sizes = drawn.subplots(2, 1, sharex=True)
        shares.plot(
            numbers, [layer.query_rank / min(probed.passages, probed.dim) for layer in probed.layers],
            "o-", color=BLUE, ms=4, label="rank of queries, of the most",
        )  # fmt: skip
        shares.plot(
            numbers, [layer.contexts_full.value for layer in probed.layers], "s-", color=GREEN, ms=4,
            label=f"contexts of rank {probed.tokens}",
        )  # fmt: skip
        for name, colour, label in (
            ("queries_independent", ORANGE, f"{probed.tokens} queries independent"),
            ("general_position", PURPLE, f"{probed.dim} queries independent"),
        ):
            drawn_layers = [(layer.number, getattr(layer, name)) for layer in probed.layers if getattr(layer, name)]
            if drawn_layers:
                at, estimates = zip(*drawn_layers, strict=True)
                low = [max(0.0, share.value - share.interval.low) for share in estimates]
                high = [max(0.0, share.interval.high - share.value) for share in estimates]
                shares.errorbar(
                    at, [share.value for share in estimates], yerr=[low, high], fmt="v-", color=colour, ms=4, capsize=2,
                    label=label,
                )  # fmt: skip
        saturated = [(layer.number, layer.saturated) for layer in probed.layers if layer.saturated is not None]
        shares.plot(*zip(*saturated, strict=True), "x--", color=VERMILION, ms=4, label="saturated attention (> .99)")
        shares.set_ylim(-0.03, 1.05)
        shares.set_ylabel("share")
        # Shares lie anywhere between nothing and one: a legend inside would hide some.
        drawn.legend(*shares.get_legend_handles_labels(), fontsize=7.5, ncols=3, loc="outside lower center")
        shares.set_title(f"{probed.model}: {probed.passages} passages of {probed.tokens} tokens, d = {probed.dim}")
        sizes.semilogy(
            numbers, [layer.tokens.radius / layer.tokens.distance for layer in probed.layers], "o-", color=BLUE, ms=4,
            label="r / delta, tokens",
        )  # fmt: skip
        sizes.semilogy(
            numbers, [layer.context_condition for layer in probed.layers], "s-", color=GREEN, ms=4,
            label="condition of a context, median",
        )  # fmt: skip
        sizes.set_xlabel("layer (0: embedding)")
        sizes.legend(fontsize=7.5)
        for axes in (shares, sizes):
            axes.grid()
        return save(drawn, path)
