"""`rote sweep`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import On, PartOfTrials, ReportTo, TrainingOptions, reported
from rote.cli.output import AsJson, failures, print_json, print_pairs, print_table, show_part

if TYPE_CHECKING:
    from rote.experiments.size_laws import SweepLaw
    from rote.experiments.sweep import Sweep

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
    training: TrainingOptions | None = None,
    workers: int | None = None,
    engine: Literal["auto", "native", "torch"] = "auto",
    on: On = "here",
    part: PartOfTrials = None,
    report_to: ReportTo = None,
    as_json: AsJson = False,
) -> int:
    """Train every model of a grid and fit how capacity grows with each size.

    A size is a number, several (1,5,9) or a range whose end is included (2:8, 2:8:2). The models learn random look-up
    tables of all contexts. Every finished trial is kept: after an interruption the same command resumes, and with more
    values in the same folder only new trials are trained. The folder ends up with a figure (PNG, SVG, PDF), the trials
    (CSV, Parquet) and the fitted laws (JSON); `rote runs fit` reads it too.

    Example: `rote sweep --vocab 30 --context 3 --dim 8 --head-dim 2:8 --heads 1,5,9`

    Parameters
    ----------
    vocab
        Vocabulary size N.
    heads
        Number of heads H per layer.
    context
        Context length S.
    dim
        Embedding dimension d. Default: --head-dim.
    head_dim
        Head dimension k. Default: --dim. Combinations with k > d are left out.
    layers
        Number of attention layers.
    width
        Add an MLP of this width after each layer. Default: no MLP.
    variant
        per-head, shared, or both, comma-separated: every head has its own projections, or all heads read one
        compression to k dimensions.
    protocol
        fast, paper, best, or several, comma-separated; `rote list protocols` explains them.
    seeds
        Models per combination, with seeds 0, 1, ...
    output
        Folder of the run. Default: runs/sweep.
    workers
        Models trained at once; results do not depend on it. Default: one per core.
    engine
        Training engine. auto: native where possible, else torch.
    """
    from rote.experiments.grid import Grid
    from rote.experiments.sweep import sweep as run_sweep

    sizes = {
        "vocab": vocab, "context": context, "dim": dim, "head_dim": head_dim, "heads": heads, "layers": layers,
        "width": width, "variant": variant, "protocol": protocol,
    }  # fmt: skip
    changes = training.changes if training else {}
    folder = Path("runs") / "sweep" if output is None else output
    grid = Grid(**{name: values for name, values in sizes.items() if values is not None})
    with reported(report_to, "rote sweep", **sizes, seeds=seeds) as progress:
        result = run_sweep(
            grid, seeds=seeds, folder=folder, workers=workers, engine=engine, on=on, part=part, progress=progress,
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
        fixed = ", ".join(f"{name} {value}" for name, value in law.sweep.fixed.items() if name in result.grid.swept)
        print(f"  {_growth(law)}{f' at {fixed}' if fixed else ''}")
    if not result.laws:
        print("  no law was fitted: a fit requires four values of one size below saturation")
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


def _growth(law: SweepLaw) -> str:
    """How capacity grows with a size, where the trials determine it."""
    power, size = law.power, law.sweep.size
    if power is None or not all(map(math.isfinite, power.hull("exponent"))):
        return f"the exponent of {size} is not determined: train more --seeds or more values of it"
    low, high = power.hull("exponent")
    return f"capacity grows as {size}^{power.values['exponent']:.2f} ({low:.2f} to {high:.2f})"
