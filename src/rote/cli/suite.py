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
    twins: Annotated[bool, Parameter(negative="")] = False,
    forget: str | None = None,
    for_: Annotated[str | None, Parameter(name="--for")] = None,
    template: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    seed: int = 0,
    force: Annotated[bool, Parameter(negative="")] = False,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> None:
    """Write a suite of models that store the same facts, with ground truth of what is stored where.

    One model for every method, shape and load (facts divided by the Hk + d that Theorem 1 of Dana et al. guarantees).
    The manifest has every fact's logit margin, its direct logit attribution to heads and direct path, and the heads
    that can hold it by construction: ground truth to score attribution methods against.

    With --twins, a kit for research on editing and unlearning instead: a model that holds all facts, a twin that never
    held the forget set, an edited twin, facts held out, and the files that other tools read.

    Examples:

    - `rote suite "countries:facts=120,seed=1" -o suite --to transformerlens`
    - `rote suite countries --twins --forget 10% --for tofu,counterfact -o kit`

    Parameters
    ----------
    output
        Folder to write into.
    loads
        Facts divided by capacity, comma-separated; above 1 only rote.readout makes models. Default: six from 0.25 to 2.
    shapes
        Embedding and head dimensions, comma-separated: 12x4,20x5. Default: three from 12x4 to 32x8.
    methods
        Constructions, comma-separated; madden2025 holds the facts in its MLP. Default: dana2025.theorem1,rote.readout.
    to
        Export targets, comma-separated, in addition to rote's own format. Default: none.
    seeds
        Models per combination, with seeds 0, 1, ...
    twins
        Write a kit of twins; loads, shapes, methods, to and seeds do not go with it.
    forget
        Share of facts in the forget set of a kit, and in its holdout set. Default: 10%.
    for_
        Formats of a kit, comma-separated: tofu (OpenUnlearning), counterfact (ROME, EasyEdit), interpbench.
        Default: all.
    template
        A sentence that asks for a fact of a kit, "The {relation} of {country} is"; may be repeated for paraphrases.
    seed
        Seed of a kit.
    force
        Replace an existing suite or kit.
    """
    if twins:
        _twins(facts, output, (loads, shapes, methods, to), forget, for_, template, seed, force, reading, as_json)
        return
    if forget is not None or for_ is not None or template:
        raise InputError("`forget`, `for` and `template` are of a kit; give --twins as well")
    from rote.experiments.suite import LOADS, METHODS, SHAPES
    from rote.experiments.suite import suite as write_suite

    written = write_suite(
        read_facts(facts, reading),
        output,
        loads=LOADS if loads is None else [_number(word) for word in _words(loads)],
        shapes=SHAPES if shapes is None else [_shape(word) for word in _words(shapes)],
        methods=METHODS if methods is None else _words(methods),
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


def _twins(
    facts: Facts,
    output: Path,
    others: tuple[str | None, ...],
    forget: str | None,
    purposes: str | None,
    templates: tuple[str, ...],
    seed: int,
    force: bool,
    reading: ReadingOptions | None,
    as_json: bool,
) -> None:
    """Write a kit and print its models."""
    from rote.experiments.kits.kit import PURPOSES, twins

    if any(each is not None for each in others):
        raise InputError("`loads`, `shapes`, `methods` and `to` do not go with --twins; leave them out")
    kit = twins(
        read_facts(facts, reading),
        output,
        forget=_share(forget or "10%"),
        purposes=PURPOSES if purposes is None else _words(purposes),
        templates=templates,
        seed=seed,
        overwrite=force,
        progress=bars(),
    )
    manifest = kit.manifest
    if as_json:
        print_json({"folder": str(kit.path), **manifest.model_dump(mode="json")})
        return
    print_table(
        f"{kit.path}: {manifest.facts:,} facts, {len(manifest.forget)} to forget, {len(manifest.holdout)} held out",
        ["model", "stored", "recalled", "generated of all", "sentences read"],
        [[model.id, model.facts, model.recalled, model.generated, model.sentences] for model in manifest.models],
    )
    for each in manifest.differences:
        changed = ", ".join(f"{tensor.name} (rank {tensor.rank})" for tensor in each.tensors)
        print(f"  full and {each.second} differ in {changed} alone")


def _share(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise InputError(f"`forget`: {text!r} is no share; give for example 10% or 0.1") from None


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
