"""`rote runs fit`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rote.cli.options import bars
from rote.cli.output import AsJson, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from rote.experiments.runs.laws import SizeExponent
    from rote.experiments.size_laws import SizeSweep
    from rote.measure.laws import LawFit


def fit(
    run: Path,
    /,
    *,
    weighting: Literal["uniform", "sampled"] = "uniform",
    as_json: AsJson = False,
) -> None:
    """Fit how capacity grows with heads, head dimension and dimension: exponents with intervals.

    Capacity is the number of associations implied by the measured accuracy, corrected for guessing. Every series of the
    run in which one size varies is fitted with a line, a quadratic, a power law and a saturating form.

    Example: `rote runs fit runs/dana2025.fig1a-fast`

    Parameters
    ----------
    run
        Folder of a run of `rote reproduce` or `rote sweep`.
    weighting
        uniform: accuracy over all contexts; sampled: weighted as contexts were sampled, as published.
    """
    from rote.experiments.runs.laws import fit_run

    laws = fit_run(run, weighting, progress=bars())
    if as_json:
        print_json(laws.summary())
        return
    several = len({size.architecture for size in laws.sizes}) > 1
    print_table(
        f"{run}: capacity in associations against each size ({weighting} weighting, {laws.trials} trials)",
        ["size", "fixed", "points", "exponent", "95 % interval", "forms, best first (AICc)"],
        [
            [
                law.sweep.size,
                _fixed(law.sweep, several),
                f"{law.fits[0].points - law.fits[0].saturated}"
                + (f" + {law.fits[0].saturated} saturated" if law.fits[0].saturated else ""),
                *_power(law.power),
                ", ".join(f"{fit.law} {fit.aicc:.1f}" for fit in law.fits if math.isfinite(fit.aicc))
                or "too few points",
            ]
            for law in laws.laws
        ],
    )
    determined = {law.sweep.size for law in laws.laws if _power(law.power)[0] != "-"}
    sizes = [size for size in laws.sizes if size.size in determined]
    if sizes:
        print_pairs(
            "capacity grows as size^exponent",
            {f"{size.size}, {size.architecture}" if several else size.size: _exponent(size) for size in sizes},
        )


def _power(fit: LawFit | None) -> tuple[str, str]:
    """The exponent of a power law and its interval, where the points determine one."""
    if fit is None:
        return "-", "-"
    low, high = fit.hull("exponent")
    if not (math.isfinite(low) and math.isfinite(high)):
        return "-", "not determined"
    return f"{fit.values['exponent']:.2f}", f"{low:.2f} to {high:.2f}"


def _exponent(size: SizeExponent) -> str:
    median = f"exponent {size.median_exponent:.2f}"
    if size.sweeps == 1:
        return f"{median} in one sweep"
    return f"{median} in the median of {size.sweeps} sweeps ({size.least:.2f} to {size.most:.2f})"


def _fixed(sweep: SizeSweep, several: bool) -> str:
    """What the models of a sweep have in common, in symbols; the architecture where the run has several."""
    fixed, size = sweep.fixed, sweep.size
    symbols = {"vocab": "N", "dim": "d", "head_dim": "k", "heads": "H", "width": "w"}
    parts = [f"{symbol} {fixed[name]}" for name, symbol in symbols.items() if name in fixed]
    if size == "heads" and fixed.get("dim") == fixed.get("head_dim"):
        parts = [part for part in parts if not part.startswith("k ")]
        parts = [part.replace("d ", "d = k = ") if part.startswith("d ") else part for part in parts]
    if fixed.get("layers", 1) > 1:
        parts.append(f"{fixed['layers']} layers")
    if fixed.get("dim") != fixed.get("head_dim") and "variant" in fixed and size != "dim = head_dim":
        parts.append(fixed["variant"])
    return ", ".join([*([sweep.architecture] if several else []), *parts])
