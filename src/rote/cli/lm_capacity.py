"""`rote lm capacity`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.lm_options import counted_as_parameters
from rote.cli.options import On, bars
from rote.cli.output import AsJson, complain, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from rote.experiments.lm_capacity.reading import MeterReading


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
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    figure: Path | None = None,
    workers: int | None = None,
    on: On = "here",
    as_json: AsJson = False,
) -> int:
    """How many bits per parameter an architecture can be made to hold.

    Fresh models memorize random strings, of more and more bits, until no more is held; the code length under the model
    says how much is. Strings that were never seen must earn nothing. Every point is kept when it ends: start the same
    command again after an interruption and it goes on.

    Example: `rote lm capacity llama`

    Parameters
    ----------
    model
        gpt2, llama or mamba, or a plain Transformer (plain, attention-only, mlp-only), with the sizes below; a
        configuration file (.json), rote's or Hugging Face's; or module:function, a Python function that makes a causal
        torch module.
    dim
        Model dimension of a named architecture.
    layers
        Their blocks.
    heads
        Their attention heads.
    mlp
        Width of their MLP as a multiple of dim; when absent 4, 3 for llama, 2 (the expansion) for mamba.
    tied
        Whether the unembedding is the token embedding.
    head_dim
        Dimension of a head; dim / heads when absent.
    norm
        Norm of a plain Transformer; rms when absent.
    protocol
        strings: random strings, by code length; facts: look-up facts, and only models that recall all of them count.
    vocab
        Tokens that strings are made of.
    key
        Tokens that make each string its own; given to the model, not counted.
    load
        Bits offered per parameter; may be repeated. When absent, more and more until less is held on both sides.
    steps
        Steps of training; a half, a quarter and an eighth of them are tried as well.
    seeds
        Models per load.
    rate
        Peak learning rate; searched for when absent.
    output
        Folder of the run; runs/meter-MODEL-PROTOCOL-DIMxLAYERS when absent.
    figure
        Also draw bits held against bits offered, as this PNG or SVG file.
    workers
        Models trained at once; one per core when absent. Results do not depend on it.
    """
    from rote.errors import InputError
    from rote.experiments.lm_capacity.meter import lm_capacity as measure
    from rote.lm.capacity.subjects import Sizes
    from rote.report.density_figure import FORMATS
    from rote.report.lm_capacity_figure import meter_figure

    if figure is not None and figure.suffix not in FORMATS:
        raise InputError(f"`figure`: {figure} must end in {' or '.join(FORMATS)}")
    named = model.replace("/", "-").replace(":", "-").removesuffix(".json")
    folder = output or Path("runs") / f"meter-{named}-{protocol}-{dim}x{layers}"
    reading = measure(
        model, Sizes(dim, layers, heads, mlp, tied, head_dim, norm), protocol=protocol, vocab=vocab, key=key,
        loads=load, steps=steps, seeds=seeds, rate=rate, folder=folder, workers=workers, on=on, progress=bars(),
    )  # fmt: skip
    drawn = None if figure is None else str(meter_figure(reading, figure))
    if as_json:
        print_json({**reading.summary(), "run": str(folder), "figure": drawn})
    else:
        _show(reading, folder, drawn)
    return 0 if reading.check_holds else complain("strings that were never seen earn bits: the count is wrong", 1)


def _show(reading: MeterReading, folder: Path, drawn: str | None) -> None:
    total = reading.parameters.total
    print_table(
        f"{reading.name}: bits per parameter, {reading.points[0].steps:,} steps at rate {reading.rate:g}",
        ["strings", "offered", "held", "seeds", "tokens recalled", "fresh strings", "CPU s"],
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
        print("  no size was recalled whole by every seed; offer less with --load, or give more --steps")
    else:
        print_pairs(
            "reading",
            {
                "bits per parameter": _with_interval(reading),
                "without embeddings": f"{reading.without_embeddings:.3f}",
                "counted as parameters": counted_as_parameters(reading.parameters),
                "by steps": ", ".join(f"{steps:,}: {held:.3f}" for steps, held in reading.by_steps),
                "last doubling added": _last_doubling(reading),
                "eight times the steps": _more_steps(reading),
                "plateau": "in sight" if reading.plateau_in_sight else "not in sight: offer other --load",
                "after rounding": ", ".join(f"{name} {held:.2f}" for name, held in reading.rounded.items()),
                "fresh strings": "earn nothing" if reading.check_holds else "EARN BITS",
            },
        )
    print(f"  {reading.trained} points trained now; they are in {folder}" + (f", figure {drawn}" if drawn else ""))


def _with_interval(reading: MeterReading) -> str:
    low, high = reading.interval
    if not math.isfinite(low):
        return f"{reading.bits_per_parameter:.3f} (no interval: give more --seeds, or --load beyond full recall)"
    return f"{reading.bits_per_parameter:.3f}, from {low:.2f} to {high:.2f} (seeds, 95 %, and more steps)"


def _last_doubling(reading: MeterReading) -> str:
    gain, half_width = reading.gain_of_twice, reading.half_width
    if not math.isfinite(half_width):
        return f"{gain:+.3f}"
    than = "settled: no more than" if reading.settled else "not settled: more than"
    return f"{gain:+.3f}; {than} seeds differ, +-{half_width:.3f}"


def _more_steps(reading: MeterReading) -> str:
    if not math.isfinite(reading.with_more_steps):
        return "cannot be told from one length of training"
    return f"would hold {reading.with_more_steps:.2f}, if doublings go on adding the same share of the one before"
