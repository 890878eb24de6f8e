"""`rote suite`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rote.cli.options import Facts, ReadingOptions, bars, read_facts
from rote.cli.output import AsJson, print_json, print_table
from rote.errors import InputError


def suite(
    facts: Facts,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    loads: str | None = None,
    shapes: str | None = None,
    methods: str | None = None,
    to: str | None = None,
    seeds: int = 1,
    force: Annotated[bool, Parameter(negative="")] = False,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> None:
    """Write a suite of models that store the same facts, with ground truth of what is stored where.

    One model for every method, shape and load (facts divided by the Hk + d that Theorem 1 of Dana et al. guarantees).
    The manifest has every fact's logit margin, its direct logit attribution to heads and direct path, and the heads
    that can hold it by construction: ground truth to score attribution methods against.

    Example: `rote suite "countries:facts=120,seed=1" -o suite --to transformerlens`

    Parameters
    ----------
    output
        Folder to write into.
    loads
        Facts divided by capacity, comma-separated; above 1 only rote.readout makes models. Default: six from 0.25 to 2.
    shapes
        Embedding and head dimensions, comma-separated: 12x4,20x5. Default: three from 12x4 to 32x8.
    methods
        Constructions, comma-separated. Default: all with several distinguishable heads.
    to
        Export targets, comma-separated, in addition to rote's own format. Default: none.
    seeds
        Models per combination, with seeds 0, 1, ...
    force
        Replace an existing suite.
    """
    from rote.experiments.suite import LOADS, SHAPES, SOLVED
    from rote.experiments.suite import suite as write_suite

    written = write_suite(
        read_facts(facts, reading),
        output,
        loads=LOADS if loads is None else [_number(word) for word in _words(loads)],
        shapes=SHAPES if shapes is None else [_shape(word) for word in _words(shapes)],
        methods=tuple(SOLVED) if methods is None else _words(methods),
        formats=_words(to or ""),
        seeds=seeds,
        overwrite=force,
        progress=bars(),
    )
    manifest = written.manifest
    if as_json:
        print_json({"folder": str(written.path), **manifest.model_dump(mode="json")})
        return
    print_table(
        f"{written.path}: {len(manifest.models)} models of {manifest.facts:,} facts",
        ["model", "heads", "load", "recalled", "smallest logit margin", "rounding"],
        [
            [model.id, model.spec["heads"], model.load, model.recalled, model.min_margin, model.margin_rounding]
            for model in manifest.models
        ],
    )
    for rejected in manifest.rejected:
        print(f"  rejected: {rejected.id}: {rejected.reason}")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise InputError(
            f"`loads`: {word!r} is not a number; give facts divided by capacity, for example 0.5,1"
        ) from None


def _shape(word: str) -> tuple[int, int]:
    dim, _, head_dim = word.partition("x")
    if not (dim.isascii() and dim.isdigit() and head_dim.isascii() and head_dim.isdigit()):
        raise InputError(f"`shapes`: {word!r} is not a pair; give dim and head_dim with an x between, for example 20x5")
    return int(dim), int(head_dim)
