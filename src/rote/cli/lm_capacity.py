"""`rote lm capacity`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import On, ReportTo, counted_as_parameters, reported
from rote.cli.output import AsJson, complain, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from rote.experiments.lm_capacity.reading import LmCapacity


def capacity(
    model: str,
    /,
    *,
    dim: int = 16,
    layers: int = 1,
    heads: int = 2,
    mlp: float | None = None,
    tied: bool = True,
    head_dim: int | None = None,
    norm: Literal["rms", "layer", "none"] | None = None,
    protocol: Literal["strings", "facts"] = "strings",
    vocab: int = 64,
    key: int = 2,
    load: Annotated[tuple[float, ...] | None, Parameter(negative="")] = None,
    steps: int = 4000,
    seeds: int = 2,
    rate: float | None = None,
    lora: int | None = None,
    modules: Literal["all", "attention", "mlp", "down"] = "all",
    base: Literal["trained", "random"] = "trained",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    figure: Path | None = None,
    workers: int | None = None,
    on: On = "here",
    report_to: ReportTo = None,
    as_json: AsJson = False,
) -> int:
    """Measure how many bits per parameter an architecture can memorize.

    Fresh models are trained on random strings of increasing total entropy until the memorized bits, measured by
    cross-entropy (codelength), stop growing. Held-out strings are a control and must show zero gain. Every finished
    point is kept: after an interruption the same command resumes.

    Example: `rote lm capacity llama`

    Parameters
    ----------
    model
        gpt2, llama, mamba or a plain Transformer (plain, attention-only, mlp-only) with the sizes below; a .json
        configuration of rote or Hugging Face; or module:function, a Python function that returns a causal torch module.
    dim
        Model dimension of a named architecture.
    layers
        Number of Transformer blocks.
    heads
        Number of attention heads.
    mlp
        MLP width as a multiple of --dim. Default: 4; 3 for llama; 2, the expansion, for mamba.
    tied
        Tie the unembedding to the token embedding.
    head_dim
        Head dimension. Default: --dim / --heads.
    norm
        Normalization of a plain Transformer. Default: rms.
    protocol
        strings: bits by codelength on random strings; facts: look-up facts, counting only models with full recall.
    vocab
        Vocabulary size of the strings.
    key
        Tokens of the unique prefix of each string, given to the model and not counted.
    load
        Bits offered per parameter; may be repeated. Default: increasing loads until the curve has peaked.
    steps
        Training steps; a half, a quarter and an eighth of them are measured as well.
    seeds
        Models per load.
    rate
        Peak learning rate. Default: searched for.
    lora
        Rank of adapters (LoRA): the model is frozen, and only they are trained and counted.
    modules
        Matrices that get adapters: all, those of attention, of the MLPs, or the down-projections.
    base
        The frozen model under adapters: trained on other strings, or random.
    output
        Folder of the run. Default: runs/lm-capacity-MODEL-PROTOCOL-DIMxLAYERS.
    figure
        Also draw bits held against bits offered, as this PNG or SVG file.
    workers
        Models trained at once; results do not depend on it. Default: one per core.
    """
    from rote.charts.drawing import SUFFIXES, write_chart
    from rote.errors import InputError
    from rote.experiments.lm_capacity.meter import lm_capacity as measure
    from rote.lm.capacity.subjects import LmSizes

    if figure is not None and figure.suffix not in SUFFIXES:
        raise InputError(f"`figure`: {figure} must end in {' or '.join(SUFFIXES)}")
    named = model.replace("/", "-").replace(":", "-").removesuffix(".json")
    kind = protocol if lora is None else f"{protocol}-lora{lora}-{modules}-{base}"
    folder = output or Path("runs") / f"lm-capacity-{named}-{kind}-{dim}x{layers}"
    with reported(report_to, f"rote lm capacity {named}", protocol=protocol, dim=dim, layers=layers) as progress:
        reading = measure(
            model, LmSizes(dim, layers, heads, mlp, tied, head_dim, norm), protocol=protocol, vocab=vocab, key=key,
            loads=load, steps=steps, seeds=seeds, rate=rate, lora=lora, modules=modules, base=base, folder=folder,
            workers=workers, on=on, progress=progress,
        )  # fmt: skip
    drawn = None if figure is None else str(write_chart(reading.chart(), figure))
    if as_json:
        print_json({**reading.summary(), "run": str(folder), "figure": drawn})
    else:
        _show(reading, folder, drawn)
    return (
        0 if reading.check_holds else complain("held-out strings show a gain: the measured bits are not memorized", 1)
    )


def _show(reading: LmCapacity, folder: Path, drawn: str | None) -> None:
    total = reading.parameters.total
    print_table(
        f"{reading.name}: bits per parameter, {reading.points[0].steps:,} steps at rate {reading.rate:g}",
        ["strings", "offered", "memorized", "by seed", "token accuracy", "held-out gain", "CPU s"],
        [
            [
                size, f"{points[0].offered / total:.3f}", f"{reading.mean(size):.3f}",
                " ".join(f"{point.held / total:.3f}" for point in points),
                " ".join(f"{point.recalled / point.tokens:.2%}" for point in points),
                " ".join(f"{point.fresh_gain:+.4f}" for point in points), round(sum(p.seconds for p in points)),
            ]
            for size in reading.sizes
            for points in (reading.at(size),)
        ],
    )  # fmt: skip
    value = reading.bits_per_parameter
    if value is None:
        print("  no size had full recall in every seed; lower --load or raise --steps")
    else:
        print_pairs(
            "estimate",
            {
                "bits per parameter": _with_interval(reading),
                **_counted(reading),
                "by steps": ", ".join(f"{steps:,}: {held:.3f}" for steps, held in reading.by_steps),
                "gain of the last doubling": _last_doubling(reading),
                "at 8x the steps": _more_steps(reading),
                "saturated": "yes" if reading.plateau_in_sight else "no: try other values of --load",
                "after rounding": ", ".join(f"{name} {held:.2f}" for name, held in reading.rounded.items()),
                "held-out strings": "no gain" if reading.check_holds else "GAIN: NOT MEMORIZED",
            },
        )
    print(f"  {reading.trained} points trained now; run {folder}" + (f", figure {drawn}" if drawn else ""))


def _counted(reading: LmCapacity) -> dict[str, str]:
    if reading.effective is None:
        return {
            "without embeddings": f"{reading.without_embeddings:.3f}",
            "counted as parameters": counted_as_parameters(reading.parameters),
        }
    return {
        "per number that matters": f"{reading.per_effective_parameter:.3f} (r^2 per matrix change nothing)",
        "counted as parameters": f"A and B of all adapters: {reading.parameters.total:,}",
    }


def _with_interval(reading: LmCapacity) -> str:
    low, high = reading.interval
    if not math.isfinite(low):
        return f"{reading.bits_per_parameter:.3f} (no interval: raise --seeds, or --load beyond full recall)"
    return f"{reading.bits_per_parameter:.3f}, {low:.2f} to {high:.2f} (95 % over seeds, upper end at 8x the steps)"


def _last_doubling(reading: LmCapacity) -> str:
    gain, half_width = reading.gain_of_twice, reading.half_width
    if not math.isfinite(half_width):
        return f"{gain:+.3f}"
    than = "converged: at most" if reading.settled else "not converged: more than"
    return f"{gain:+.3f}; {than} the spread over seeds, +-{half_width:.3f}"


def _more_steps(reading: LmCapacity) -> str:
    if not math.isfinite(reading.with_more_steps):
        return "unknown: requires several training lengths"
    return f"{reading.with_more_steps:.2f}, if each doubling gains the same share of the one before"
