"""`rote plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, ReadingOptions, bars, read_facts, tell
from rote.cli.output import AsJson, print_json, print_table

if TYPE_CHECKING:
    from rote.experiments.sizing.row import PlanRow


def plan(
    facts: Facts,
    /,
    *,
    dtype: Literal["float32", "float64", "bfloat16", "float16"] | None = None,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> None:
    """Compare the size of a model by every method with a look-up table and a zip of the facts.

    Example: `rote plan countries`

    Parameters
    ----------
    dtype
        Precision of the weights. Default: each method's own.
    everything
        Also build the methods whose size is known only after building, which may take long.
    """
    from rote.tasks import require_tokens

    why = "rote plan compares models of tokens; for vectors see `rote show mahdavi2024.theorem1`"
    task = require_tokens(read_facts(facts, reading), why)

    from rote.experiments.sizing.plan import plan as make_plan
    from rote.report.build_command import build_command, build_line

    tell(task.origin.notes)
    rows = make_plan(task, dtype=dtype, everything=everything, progress=bars())
    source, typed = task.origin.source, "" if reading is None else reading.typed()
    if as_json:
        print_json([{**row.model_dump(), "command": build_command(row, source, dtype, typed)} for row in rows])
        return
    sections = {name: [row for row in rows if row.section == name] for name in ("starts", "orders", "refused")}
    sized = [row for row in rows if row.section in ("builds", "no model")]
    print_table(
        f"{facts}: {task.shape.associations:,} facts, {task.shape.bits:,.0f} bits in the answers",
        ["bytes", "parameters", "method", "model"],
        [
            [row.bytes, row.parameters, _method(row), _model(row)]
            for row in sorted(sized, key=lambda row: row.bytes or 0)
        ],
    )
    if sections["starts"]:
        print_table(
            "size known only after building (--all builds them)",
            ["method", "starting size"],
            [[_method(row), f"{_model(row)}: {row.reason}"] for row in sections["starts"]],
        )
    print(f"build one: {build_line(source, 'METHOD', dtype, typed)}\n")
    if sections["orders"]:
        print_table(
            "orders of growth and estimates, without a construction",
            ["result", "kind", "parameters", "model"],
            [[row.id, row.kind, row.parameters, row.model] for row in sections["orders"]],
        )
    if sections["refused"]:
        print_table(
            "methods that cannot store these facts",
            ["method", "reason"],
            [[row.id, row.reason] for row in sections["refused"]],
        )


def _method(row: PlanRow) -> str:
    """What follows `--method` in the command that builds a row; its id where no method does."""
    from rote.experiments.sizing.row import NO_METHOD
    from rote.report.build_command import option_flags

    return row.id if row.construction == NO_METHOD else f"{row.construction}{option_flags(row)}"


def _model(row: PlanRow) -> str:
    return f"{row.model}; {row.note}" if row.note else row.model
