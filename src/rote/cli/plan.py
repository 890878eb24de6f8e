"""`rote plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, ReadingOptions, bars, read_facts, tell
from rote.cli.output import AsJson, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rote.experiments.sizing.row import PlanRow


def plan(
    facts: Facts,
    /,
    *,
    dtype: Literal["float32", "float64", "bfloat16", "float16"] | None = None,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
    by_formula: Annotated[bool, Parameter(negative="")] = False,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> None:
    """Compare the folder of a model by every method with what else one would use to store the facts.

    Example: `rote plan countries`

    Parameters
    ----------
    dtype
        Precision of the weights. Default: each method's own.
    everything
        Build every method whose size is an estimate otherwise, which may take long.
    by_formula
        Size no method: what results say of the smallest model, and storage without a model. Works without torch.
    """
    from rote.tasks import require_tokens

    why = "rote plan compares models of tokens; for vectors see `rote show mahdavi2024.theorem1`"
    task = require_tokens(read_facts(facts, reading), why)

    from rote.experiments.sizing.plan import plan as make_plan
    from rote.report.build_command import build_command, build_line

    tell(task.origin.notes)
    rows = make_plan(task, dtype=dtype, everything=everything, by_formula=by_formula, progress=bars())
    source, typed = task.origin.source, "" if reading is None else reading.typed()
    if as_json:
        print_json([{**row.model_dump(), "command": build_command(row, source, dtype, typed)} for row in rows])
        return
    sections = {name: [row for row in rows if row.section == name] for name in ("orders", "rejected")}
    sized = [row for row in rows if row.section in ("builds", "estimates", "no model")]
    sized.sort(key=lambda row: (row.bytes is None, row.bytes))
    print_table(
        f"{facts}: {task.shape.associations:,} facts, {task.shape.bits:,.0f} bits in the answers",
        ["folder bytes", "weights", "parameters", "method"],
        [[size, row.weights, row.parameters, _named(row)] for size, row in zip(_bytes(sized), sized, strict=True)],
        whole=False,
    )
    if any(row.section == "estimates" for row in sized):
        print("~ estimated, as are its weights and parameters; --all builds every method\n")
    choices = {"smallest Transformer": "", "smallest folder": " --smallest", "one method": " --method METHOD"}
    for name, choice in choices.items():
        print(f"{name}: {build_line(source, choice, dtype, typed)}")
    print()
    if sections["orders"]:
        print_table(
            "the smallest model by each result"
            if by_formula
            else "orders of growth and estimates, without a construction",
            ["result", "kind", "parameters", "model"],
            [[row.id, row.kind, row.parameters, row.model] for row in sections["orders"]],
        )
    if sections["rejected"]:
        print_table(
            "methods and results that do not apply to these facts"
            if by_formula
            else "methods that cannot store these facts",
            ["method", "reason"],
            [[row.id, row.reason] for row in sections["rejected"]],
        )


def _method(row: PlanRow) -> str:
    """What follows `--method` in the command that builds a row; its id where no method does."""
    from rote.experiments.sizing.row import NO_METHOD
    from rote.report.build_command import option_flags

    return row.id if row.construction == NO_METHOD else f"{row.construction}{option_flags(row)}"


def _named(row: PlanRow) -> str:
    note = NOTES.get(row.id, row.note)
    return f"{_method(row)} ({note})" if note else _method(row)


def _bytes(rows: Sequence[PlanRow]) -> list[str]:
    """Sizes aligned at the right, estimates marked."""
    marked = ["-" if row.bytes is None else f"{'~' if row.section == 'estimates' else ''}{row.bytes:,}" for row in rows]
    return [size.rjust(max(map(len, marked))) for size in marked]


NOTES = {
    "rote.counting": "the answers alone",
    "entropy": "counted",
    "retrieval": "static function, cited",
    "trie": "counted",
    "sqlite": "measured",
    "xz": "measured",
    "zip": "measured",
}
"""What the sizes without a model rest on."""
