"""`rote lm plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, LoadingOptions, ReadingOptions, bars, load_language_model, read_facts
from rote.cli.output import AsJson, print_json, print_table


def plan(
    model: Path,
    facts: Facts,
    /,
    *,
    template: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    relation: str | None = None,
    modules: Literal["all", "attention", "mlp", "down"] = "all",
    rank: Annotated[tuple[int, ...], Parameter(negative="")] = (1, 2, 4, 8, 16, 32, 64),
    batch: int = 64,
    loading: LoadingOptions | None = None,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> None:
    """Estimate which LoRA rank can hold a table: bits that are new to the model, against measured capacities.

    Example: `rote lm plan smollm2 capitals.csv --template "The capital of {country} is"`

    Parameters
    ----------
    model
        A Hugging Face folder, a GGUF file, or a name in the local cache.
    facts
        A file, a generator or a named source.
    template
        Prompt with the columns in braces; may be repeated.
    relation
        Plan for the facts of this relation alone. Default: all relations.
    modules
        Matrices that are adapted: all, those of attention, of the MLPs, or the down-projections.
    rank
        LoRA rank; may be repeated.
    batch
        Prompts per forward pass.
    """
    from rote.lm.plan import lm_plan
    from rote.tasks.origin import Reading

    # A prompt is made of complete cells, however a rote model would read them.
    task = read_facts(facts, reading, Reading(keys="words"))
    planned = lm_plan(
        load_language_model(model, loading), task, template, modules=modules, ranks=rank, relation=relation,
        batch=batch, progress=bars(),
    )  # fmt: skip
    if as_json:
        print_json(planned.summary())
        return
    print_table(
        f"{planned.facts:,} facts, {planned.known:,} known already, {planned.new_bits:,.0f} bits new to {model}",
        ["rank", "LoRA parameters", "bits per parameter", "guaranteed tokens", "verdict"],
        [[r.rank, r.parameters, f"{r.bits_per_parameter:.3g}", r.guaranteed, r.verdict] for r in planned.ranks],
    )
    print(f"  {planned.matrices} matrices ({modules}); the r x r numbers of each that change nothing are not counted")
    print(f"  {planned.advice}")
