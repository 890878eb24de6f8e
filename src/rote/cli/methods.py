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
    from dataclasses import asdict

    from rote.constructions.construction import construction_named
    from rote.constructions.overview import methods as every_method
    from rote.constructions.overview import overview

    if method is None:
        rows = [asdict(shown) for shown in every_method()]
        if as_json:
            print_json(rows)
            return
        print_table(
            "constructions (rote build FACTS --method ID; rote methods ID for its settings)",
            ["method", "stores", "what it does"],
            [[document["id"], ", ".join(document["tasks"]), document["summary"]] for document in rows],
        )
        return
    shown = asdict(overview(construction_named(method)))
    if as_json:
        print_json(shown)
        return
    promise = "every fact, or an error" if shown["exact"] else "as many facts as it can; the certificate says how many"
    print_pairs(
        shown["id"],
        {
            "what it does": shown["summary"],
            "stores": f"{', '.join(shown['tasks'])}: {promise}",
            "precision": shown["dtype"],
            "source": shown["source"],
            "meets": shown["meets"] or f"no result: {shown['unpromised']}",
        },
    )
    if shown["options"]:
        print_table(
            "settings (--set name=value)",
            ["name", "default", "meaning"],
            [[name, str(option["default"]), option["help"]] for name, option in shown["options"].items()],
        )
