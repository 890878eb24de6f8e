"""`rote sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import On, PartOfTrials, bars
from rote.cli.output import AsJson, print_json, print_pairs, print_table
from rote.cli.trials import failures, show_part

if TYPE_CHECKING:
    from rote.report.sweep import Sweep

Values = Annotated[str, Parameter(negative="")]
"""`5`, `1,5,9`, `2:8` (8 included) or `2:8:2`."""


def sweep(
    *,
    vocab: Values,
    heads: Values,
    context: Values = "2",
    dim: Values | None = None,
    head_dim: Values | None = None,
    layers: Values = "1",
    width: Values | None = None,
    variant: Values = "per-head",
    protocol: Values = "fast",
    seeds: int = 3,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    steps: int | None = None,
    batch: int | None = None,
    optimizer: Literal["adam", "muon"] | None = None,
    rate: float | None = None,
    polish: int | None = None,
    workers: int | None = None,
    engine: Literal["auto", "native", "torch"] = "auto",
    on: On = "here",
    part: PartOfTrials = None,
    as_json: AsJson = False,
) -> int:
    """Train every model of a grid of your own, and fit how capacity grows with each of its sizes.

    A size is a number, several (1,5,9) or a range whose end is included (2:8, 2:8:2). The models learn random look-up
    tables of all contexts. Every trial is kept when it ends: start the same command again after an interruption and it
    goes on; with more values in the same folder only what is new is trained. The folder ends up with a figure (PNG,
    SVG, PDF), the trials (CSV, Parquet) and the fitted laws (JSON); `rote runs fit` reads it too.

    Example: `rote sweep --vocab 30 --context 3 --dim 8 --head-dim 2:8 --heads 1,5,9`

    Parameters
    ----------
    vocab
        Tokens N.
    heads
        Heads H per layer.
    context
        Context length S.
    dim
        Embedding dimension d; the head dimension when absent.
    head_dim
        Head dimension k; the embedding dimension when absent. Where it would exceed that, no model is made.
    layers
        Layers of attention.
    width
        Follow each layer by an MLP of this width.
    variant
        per-head, shared, or both divided by a comma: heads of their own, or behind one compression, when k < d.
    protocol
        fast, paper, best, or several divided by commas.
    seeds
        Models per combination, seeds 0, 1, ...
    output
        Folder of the run; runs/sweep when absent.
    steps
        Optimiser steps in place of the protocol's.
    batch
        Contexts per step; all of them while they are few when absent.
    optimizer
        Adam, or Muon on the heads' matrices.
    rate
        Peak learning rate.
    polish
        L-BFGS iterations after the last step.
    workers
        Models trained at once; one per core when absent. Results do not depend on it.
    engine
        Native where it can, else torch.
    """
    from rote.experiments.grid import Grid
    from rote.report.sweep import sweep as run_sweep

    sizes = {
        "vocab": vocab, "context": context, "dim": dim, "head_dim": head_dim, "heads": heads, "layers": layers,
        "width": width, "variant": variant, "protocol": protocol,
    }  # fmt: skip
    given = {"steps": steps, "batch": batch, "optimizer": optimizer, "peak": rate, "polish": polish}
    changes = {name: value for name, value in given.items() if value is not None}
    folder = Path("runs") / "sweep" if output is None else output
    grid = Grid(**{name: values for name, values in sizes.items() if values is not None})
    result = run_sweep(
        grid, seeds=seeds, folder=folder, workers=workers, engine=engine, on=on, part=part, progress=bars(),
        **changes,
    )  # fmt: skip
    if part is not None:
        return show_part(folder, part, result.trained, len(result.rows), result.failed, as_json)
    files = [str(path) for path in result.files]
    if as_json:
        print_json({**result.summary(), "files": files})
    else:
        _show(result, files)
    return 0


def _show(result: Sweep, files: list[str]) -> None:
    means = result.means()
    print_table("capacity of trained models", means.columns, means.rows())
    for law in result.laws:
        power = law.power
        growth = "-" if power is None else f"{power.values['exponent']:.2f} ({_ends(power.hull('exponent'))})"
        fixed = ", ".join(f"{name} {value}" for name, value in law.sweep.fixed.items() if name in result.grid.swept)
        print(f"  capacity grows as {law.sweep.size}^{growth}{f' at {fixed}' if fixed else ''}")
    if not result.laws:
        print("  no law was fitted: that takes four values of one size below saturation")
    left_out = result.grid.left_out
    print_pairs(
        "sweep",
        {
            "trials": f"{result.trained} trained now, {len(result.rows)} in all",
            **({"left out": f"{left_out} pairs with head_dim above dim"} if left_out else {}),
            **failures(result.failed),
            "files": ", ".join(files),
        },
    )


def _ends(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.2f} to {ends[1]:.2f}"
