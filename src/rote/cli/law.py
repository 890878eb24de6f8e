"""`rote law`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from rote.cli.options import bars
from rote.cli.output import AsJson, print_json, print_pairs, print_table


def law(
    run: Path,
    /,
    *,
    weighting: Literal["uniform", "sampled"] = "uniform",
    as_json: AsJson = False,
) -> None:
    """How capacity grows in heads, head dimension and dimension: exponents with intervals, forms compared.

    Capacity is counted in associations, those an accuracy speaks for. Every sweep in the run in which one size varies
    and the others are held is fitted with a line, a quadratic, a power law and a saturating form.

    Example: `rote law runs/dana2025.fig1a-fast`

    Parameters
    ----------
    run
        Folder of a run (`rote reproduce`).
    weighting
        Accuracy over all contexts alike, or weighted as they were sampled (as published).
    """
    import numpy as np

    from rote.errors import InputError
    from rote.experiments.ledger import Ledger
    from rote.experiments.sweeps import sweep_laws

    about, rows = Ledger.read(run)
    found = sweep_laws(rows, weighting, progress=bars())
    if not found:
        raise InputError(f"{run}: {len(rows)} trials hold no sweep of four sizes below saturation; let the run go on")
    sizes: dict[str, Any] = {}
    for size in dict.fromkeys(one.sweep.size for one in found):
        exponents = [one.power.values["exponent"] for one in found if one.sweep.size == size and one.power is not None]
        if exponents:
            sizes[size] = {
                "median_exponent": float(np.median(exponents)),
                "least": min(exponents),
                "most": max(exponents),
                "sweeps": len(exponents),
            }
    if as_json:
        told = {"weighting": weighting, "trials": len(rows), "sizes": sizes, "sweeps": [one.summary() for one in found]}
        print_json({"run": str(run), **about["identity"], **told})
        return
    print_table(
        f"{run}: associations held against each size ({weighting} weighting, {len(rows)} trials)",
        ["size", "held", "points", "exponent", "95 % interval", "forms, best first (AICc)"],
        [
            [
                one.sweep.size,
                _held(one.sweep.fixed, one.sweep.size),
                f"{one.fits[0].points - one.fits[0].saturated}"
                + (f" + {one.fits[0].saturated} full" if one.fits[0].saturated else ""),
                "-" if one.power is None else f"{one.power.values['exponent']:.2f}",
                "-" if one.power is None else "{:.2f} to {:.2f}".format(*one.power.hull("exponent")),
                ", ".join(f"{fit.law} {fit.aicc:.1f}" for fit in one.fits),
            ]
            for one in found
        ],
    )
    print_pairs(
        "capacity grows as size^exponent",
        {
            size: f"exponent {told['median_exponent']:.2f} in the median of {told['sweeps']} sweeps "
            f"({told['least']:.2f} to {told['most']:.2f})"
            for size, told in sizes.items()
        },
    )


def _held(fixed: dict[str, Any], size: str) -> str:
    short = {"vocab": "N", "dim": "d", "head_dim": "k", "heads": "H", "width": "w"}
    told = [f"{symbol} {fixed[name]}" for name, symbol in short.items() if name in fixed]
    if size == "heads" and fixed.get("dim") == fixed.get("head_dim"):
        told = [part for part in told if not part.startswith("k ")]
        told = [part.replace("d ", "d = k = ") if part.startswith("d ") else part for part in told]
    if fixed.get("layers", 1) > 1:
        told.append(f"{fixed['layers']} layers")
    if fixed.get("dim") != fixed.get("head_dim") and "variant" in fixed and size != "dim = head_dim":
        told.append(fixed["variant"])
    return ", ".join(told)
