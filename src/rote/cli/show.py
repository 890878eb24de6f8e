"""`rote show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from rote.cli.output import AsJson, print_json, print_pairs, print_table
from rote.version import pip_install

if TYPE_CHECKING:
    from rote.constructions.overview import Method


def show(
    id: Annotated[str, Parameter(name="ID", help="An id of `rote list`, or of a figure of a paper.")],
    /,
    *,
    as_json: AsJson = False,
) -> None:
    """Show all that is known of a method, paper, figure, result, source, protocol or export target.

    A paper comes with its results, methods, figures and claims; a figure with its cost, its claims and their verdicts;
    a result with its statement and source; a method with its settings.

    Example: `rote show dana2025.theorem1`
    """
    from rote.cli.show_papers import show_figure, show_paper
    from rote.experiments.catalog import described

    found = described(id)
    if as_json:
        print_json({"id": id, **found})
        return
    shown = {
        "result": _result, "method": _method, "paper": show_paper, "figure": show_figure, "source": _source,
        "protocol": _protocol, "target": _target,
    }  # fmt: skip
    for kind, print_one in shown.items():
        if kind in found:
            print_one(found[kind])


def _result(document: dict[str, Any]) -> None:
    print_pairs(
        f"{document['id']}: {KINDS[document['kind']]}",
        {
            "statement": document["statement"],
            "source": document["citation"] if document["source"] in document["citation"] else document["source"],
            "conditions": "rote bounds checks them for sizes of yours",
            "smallest model": "rote plan evaluates it" if document["inverted"] else "not known in closed form",
            "methods": ", ".join(document["methods"]) or "none",
        },
    )


KINDS = {
    "lower": "a lower bound, so many facts can be stored",
    "upper": "an upper bound, no more facts can be stored",
    "order": "an order of growth, constants and logarithms taken as one",
    "estimate": "an estimate, measured and not proved",
}
"""What each kind of result says."""


def _method(method: Method) -> None:
    guarantee = "every fact, or an error" if method.exact else "as many facts as it can, counted in the certificate"
    print_pairs(
        f"{method.id}: a method (rote build FACTS --method {method.id})",
        {
            "summary": method.summary,
            "stores": f"{', '.join(method.tasks)}: {guarantee}",
            "precision": method.dtype,
            "source": method.source,
            "meets": method.meets or f"no result: {method.unguaranteed}",
        },
    )
    if method.options:
        print_table(
            "settings (--set name=value)",
            ["name", "default", "meaning"],
            [[name, str(option["default"]), option["help"]] for name, option in method.options.items()],
        )


def _source(document: dict[str, Any]) -> None:
    about = {name: document[name] for name in ("summary", "licence", "citation") if name in document}
    reading = {name: _in_words(value) for name, value in document.get("reading", {}).items()}
    kinds = {f"options of kind={kind}": ", ".join(options) for kind, options in document.get("kinds", {}).items()}
    print_pairs(f"{document['id']}: a source of facts", {**about, **reading, **kinds})


def _protocol(document: dict[str, Any]) -> None:
    print_pairs(f"{document['id']}: a training protocol", {"summary": document["summary"]})


def _target(document: dict[str, Any]) -> None:
    extra = document["extra"]
    print_pairs(
        f"{document['id']}: an export target (rote export MODEL --to {document['id']})",
        {
            "writes": document["summary"],
            "requires": "nothing more" if extra is None else pip_install(extra),
            **({"--cache": ", ".join(document["caches"])} if document["caches"] else {}),
        },
    )


def _in_words(value: Any) -> str:
    return ", ".join(value) if isinstance(value, (list, tuple)) else str(value)
