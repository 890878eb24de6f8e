"""`rote methods`."""

from __future__ import annotations

from rote.cli.output import AsJson, print_json, print_pairs, print_table


def methods(method: str | None = None, /, *, as_json: AsJson = False) -> None:
    """Every construction: what it stores, how, and where it is from; or one of them with its settings.

    Example: `rote methods dana2025.theorem1`

    Parameters
    ----------
    method
        A construction to tell more about.
    """
    from rote.constructions import CONSTRUCTIONS
    from rote.constructions.construction import Construction, construction_named

    def row(item: Construction) -> dict:
        return {
            "id": item.id,
            "summary": item.summary,
            "tasks": [kind.__name__.removesuffix("Task").lower() for kind in item.tasks],
            "exact": item.exact,
            "dtype": item.default_dtype,
            "options": {
                name: {"default": field.default, "help": " ".join((field.description or "").split())}
                for name, field in item.options.model_fields.items()
            },
            "source": item.source,
        }

    if method is None:
        rows = [row(CONSTRUCTIONS[id]) for id in sorted(CONSTRUCTIONS)]
        if as_json:
            print_json(rows)
            return
        print_table(
            "constructions (rote build FACTS --method ID; rote methods ID for its settings)",
            ["method", "stores", "what it does"],
            [[item["id"], ", ".join(item["tasks"]), item["summary"]] for item in rows],
        )
        return
    one = row(construction_named(method))
    if as_json:
        print_json(one)
        return
    promise = "every fact, or an error" if one["exact"] else "as many facts as it can; the certificate says how many"
    print_pairs(
        one["id"],
        {
            "what it does": one["summary"],
            "stores": f"{', '.join(one['tasks'])}: {promise}",
            "precision": one["dtype"],
            "source": one["source"],
        },
    )
    if one["options"]:
        print_table(
            "settings (--set name=value)",
            ["name", "default", "meaning"],
            [[name, str(option["default"]), option["help"]] for name, option in one["options"].items()],
        )
