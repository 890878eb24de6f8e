"""`rote plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, ReadingOptions, bars, read_facts
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
    from rote.report.build_command import build_command

    rows = make_plan(task, dtype=dtype, everything=everything, progress=bars())
    typed = "" if reading is None else reading.typed()

    def command(row: PlanRow) -> str | None:
        return build_command(row, task.origin.source, dtype, typed)

    if as_json:
        print_json([{**row.model_dump(), "command": command(row)} for row in rows])
        return
    sections = {name: [row for row in rows if row.section == name] for name in ("starts", "orders", "refused")}
    sized = [row for row in rows if row.section in ("builds", "no model")]
    print_table(
        f"{facts}: {task.shape.associations:,} facts, {task.shape.bits:,.0f} bits in the answers",
        ["bytes", "parameters", "method, or command that builds it"],
        [
            [row.bytes, row.parameters, _what(row, command(row))]
            for row in sorted(sized, key=lambda row: row.bytes or 0)
        ],
    )
    if sections["starts"]:
        print_table(
            "size known only after building (--all builds them)",
            ["method", "command and starting size"],
            [[row.id, f"{_what(row, command(row))}: {row.reason}"] for row in sections["starts"]],
        )
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


def _what(row: PlanRow, command: str | None) -> str:
    note = f"; {row.note}" if row.note else ""
    return f"{row.id}: {row.model}" if command is None else f"{command}  ({row.model}{note})"
