"""`rote build`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from rote.cli.options import Facts, ReadingOptions, Seed, bars, read_facts, settings, tell
from rote.cli.output import AsJson, describe, print_folded, print_json, print_pairs
from rote.cli.usage import in_flags, seconds
from rote.display import number
from rote.models.grid import GridName
from rote.models.spec import Dtype

if TYPE_CHECKING:
    from rote.constructions.build import Built

LABELS = {"min_margin": "smallest logit margin"}
"""Names of measures where the table has other words than the JSON document."""
MEASURES = (
    "bits_per_parameter", "bits_per_weight_bit", "min_margin", "margin_rounding", "divergence", "largest_error"
)  # fmt: skip

FLAGS = {
    name: f"--{name.replace('_', '-')}"
    for name in ("method", "dim", "head_dim", "heads", "dtype", "seed", "within", "smallest", "keys")
}
"""Flags of the options that reasons name."""


def build(
    facts: Facts,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    method: str | None = None,
    dim: int | None = None,
    head_dim: int | None = None,
    heads: int | None = None,
    dtype: Dtype | GridName | None = None,
    seed: Seed = 0,
    within: Annotated[float | None, Parameter(converter=seconds)] = None,
    smallest: Annotated[bool, Parameter(negative="")] = False,
    rank_one: Annotated[bool, Parameter(negative="")] = False,
    spare: int | None = None,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    template: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    keep_keys: bool = True,
    force: Annotated[bool, Parameter(negative="")] = False,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> None:
    """Build the smallest model that stores every fact, in closed form, and certify it.

    Every fact is checked in the saved precision. `rote plan FACTS` compares the sizes of all methods first.

    Examples:

    - `rote build countries -o model`
    - `rote build airports -o model --within 5m`
    - `rote build airports -o model --smallest`
    - `rote build mine.csv --key name --answer city -o model`

    Parameters
    ----------
    output
        Folder to write the model into.
    method
        Construction, an id of `rote list methods`. Default: the one with the fewest parameters.
    dim
        Embedding dimension. Default: chosen by the method.
    head_dim
        Head dimension. Default: chosen by the method.
    heads
        Number of heads. Default: the fewest that store the facts.
    dtype
        Precision of the saved weights, in which every fact is checked. int8 to ternary: packed integers with scales
        (dana2025.theorem1). Default: float32 unless the method needs more.
    within
        CPU time for the choice of a method: 60s, 2m, or a number of seconds. A smaller model may need more.
        Default: 2s per 1,000 facts, at least 30s and at most 2m; with --smallest 30s.
    smallest
        Choose the fewest bytes of the complete folder, over all architectures, instead of the smallest Transformer.
    rank_one
        Query-key matrices of rank one (Dana et al., Remark 2).
    spare
        Leave room for so many facts that `rote edit` may add without a new head (dana2025.theorem1).
    set_
        A setting of the method, `--set name=value`; may be repeated. `rote show METHOD` lists them.
    template
        A sentence that asks for a fact, "The {relation} of {country} is"; may be repeated. The model folder remembers
        it, and `rote export` writes tokenizers that read it.
    keep_keys
        Save the set of stored keys with the model, so that it can tell unknown keys (at most 12 bits per key).
    force
        Replace an existing model folder.
    """
    from rote.folders.destination import check_destination, solved_parts
    from rote.tasks.templates import with_templates

    # Before tensors are loaded, which takes seconds: what is wrong with the folder, the facts or the settings.
    check_destination(output, force)
    task = with_templates(read_facts(facts, reading), template)
    options = settings(set_)
    tell(task.origin.notes)

    from rote.constructions.build import build as build_model
    from rote.constructions.construction import Abandoned

    if rank_one:
        options["rank_one"] = True
    if spare is not None:
        options["spare"] = spare
    with solved_parts(output) as resume:
        built = build_model(
            task,
            method,
            dim=dim,
            head_dim=head_dim,
            heads=heads,
            dtype=dtype,
            seed=seed,
            within=within,
            smallest=smallest,
            keep_keys=keep_keys,
            templates=template,
            resume=resume,
            progress=bars(),
            **options,
        )
        built.save(output, overwrite=force)
    certificate, summary = built.certificate, built.summary(output)
    if as_json:
        print_json(summary)
        return
    print_pairs(
        f"{facts}: {certificate.recalled:,} of {certificate.facts:,} facts recalled in {certificate.dtype}",
        {
            "method": summary["method"],
            "architecture": describe(built.model.spec),
            "parameters": certificate.parameters,
            "bytes of weights": summary["bytes"],
            "bytes of the folder": summary["folder_bytes"],
            **{
                LABELS.get(name) or name.replace("_", " "): summary[name]
                for name in MEASURES
                if summary[name] is not None
            },
            "guarantee": f"{certificate.meets}: {certificate.guaranteed:,}" if certificate.guaranteed else "-",
            "measured": ", ".join(
                f"{name.replace('_', ' ')} {number(value)}"
                for name, value in certificate.measured.items()
                if isinstance(value, int | float | str)
            ),
            "runner-up": summary["runner_up"] or "-",
            **({"budget": budget} if (budget := _budget(built)) else {}),
            "time": f"{built.seconds:.1f} s",
            "folder": str(output),
        },
    )
    if built.limits:
        print_folded(in_flags(built.limits, FLAGS))
        print()
    for attempt in Abandoned.grouped(built.attempts):
        lines = (line.strip().removeprefix("- ") for line in attempt.splitlines())
        print_folded(in_flags(f"left {'; '.join(lines)}", FLAGS))


def _budget(built: Built) -> str | None:
    """The CPU time that the choice of a method was allowed and took, where it decided anything."""
    if built.budget is None or built.budget_used is None:
        return None
    over = built.budget_used > built.budget
    if not over and not built.attempts:
        return None
    used = f"{built.budget:g} s of CPU time for the choice of a method, {built.budget_used:.1f} s used"
    return f"{used}: no faster method was left" if over else used
