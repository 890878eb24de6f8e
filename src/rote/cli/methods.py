"""`rote methods`."""

from __future__ import annotations

from rote.cli.output import AsJson, print_json, print_table


def methods(*, as_json: AsJson = False) -> None:
    """Every construction: what it stores, how, and where it is from.

    Example: `rote methods`
    """
    from rote.constructions import CONSTRUCTIONS

    rows = [
        {
            "id": item.id,
            "summary": item.summary,
            "tasks": [kind.__name__.removesuffix("Task").lower() for kind in item.tasks],
            "exact": item.exact,
            "options": {name: field.default for name, field in item.options.model_fields.items()},
            "source": item.source,
        }
        for item in sorted(CONSTRUCTIONS.values(), key=lambda item: item.id)
    ]
    if as_json:
        print_json(rows)
        return
    print_table(
        "constructions (rote build FACTS --method ID)",
        ["method", "stores", "what it does", "settings (--set)"],
        [[row["id"], ", ".join(row["tasks"]), row["summary"], ", ".join(row["options"])] for row in rows],
    )
