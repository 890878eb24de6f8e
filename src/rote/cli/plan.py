"""`rote plan`."""

from __future__ import annotations

from typing import Literal

from rote.cli.options import Facts, ReadingOptions, read_facts
from rote.cli.output import AsJson, print_json, print_table


def plan(
    facts: Facts,
    /,
    *,
    dtype: Literal["float32", "float64", "bfloat16", "float16"] = "float32",
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> None:
    """The smallest model per method that holds these facts, beside a look-up table and a zip of them.

    Example: `rote plan countries`

    Parameters
    ----------
    dtype
        Precision that bytes are counted in.
    """
    from pathlib import Path

    from rote.tasks import require_tokens

    why = "plans are for token tasks; for vectors see `rote bound` (mahdavi2024.theorem1)"
    task = require_tokens(read_facts(facts, reading), why)

    from rote.experiments.plan import plan as make_plan
    from rote.experiments.storage import zipped_bytes

    path = Path(facts)
    rows = make_plan(task.shape, dtype=dtype, zipped=zipped_bytes(path if path.is_file() else task))
    if as_json:
        print_json([row.model_dump() for row in rows])
        return
    possible = [row for row in rows if row.possible]
    print_table(
        f"{facts}: {task.shape.associations:,} facts, {task.shape.bits:,.0f} bits in the answers; bytes in {dtype}",
        ["method", "bytes", "parameters", "built by", "model"],
        [[row.id, row.bytes, row.parameters, row.construction, row.model] for row in possible],
    )
    if len(possible) < len(rows):
        print_table("cannot hold them", ["method", "why"], [[row.id, row.reason] for row in rows if not row.possible])
