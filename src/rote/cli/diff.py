"""`rote diff`."""

from __future__ import annotations

from rote.cli.options import Facts, bars
from rote.cli.output import AsJson, print_json, print_table

SHOWN = 20
"""Facts that the table lists."""


def diff(model: str, other: str, /, *, facts: Facts | None = None, as_json: AsJson = False) -> None:
    """Compare two models: which tensors, entries, answers and logit margins differ.

    Example: `rote diff model model2`

    Parameters
    ----------
    model
        A model folder.
    other
        Another one.
    facts
        The facts that both are asked. Default: the source that the first folder names.
    """
    from rote.editing.diff import diff as compare

    difference = compare(model, other, facts, bars())
    if as_json:
        print_json(difference.summary())
        return
    print_table(
        "weights are the same, bit for bit" if difference.same_weights else "weights differ",
        ["tensor", "shape", "entries", "different", "largest", "rank"],
        [
            [
                each.name,
                " -> ".join(dict.fromkeys("x".join(map(str, shape)) for shape in each.shapes)),
                each.entries,
                each.different,
                each.largest,
                each.rank,
            ]
            for each in difference.tensors
        ],
    )
    rows = [[each.fact, *each.answers, each.margins[1]] for each in difference.answered_otherwise]
    title = f"{len(rows):,} of {difference.facts:,} facts are answered otherwise"
    if rows:
        print_table(title, ["fact", "answer", "other answer", "margin there"], rows[:SHOWN], whole=False)
        if len(rows) > SHOWN:
            print(f"  and {len(rows) - SHOWN:,} more (--json lists all)")
    else:
        print(title)
    moved = difference.largest_margin_change
    if moved is not None:
        print(f"largest change of the logit margin of another fact: {moved:.3g}")
