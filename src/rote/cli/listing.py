"""`rote list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from rote.cli.output import AsJson, print_json, print_table

if TYPE_CHECKING:
    from rote.constructions.overview import Method

Kind = Literal["methods", "papers", "results", "sources", "protocols", "targets"]


def list_(
    what: Annotated[Kind, Parameter(help="What to list.")],
    /,
    *,
    as_json: AsJson = False,
) -> None:
    """List the methods, papers, results, sources of facts, training protocols or export targets.

    `rote show ID` has the details of each.

    Example: `rote list methods`
    """
    from rote.experiments.catalog import listed

    documents = listed(what)
    if as_json:
        print_json(documents)
        return
    if what == "papers":
        from rote.cli.show_papers import show_papers

        show_papers(documents)
        return
    title, columns, row = TABLES[what]
    print_table(f"{title}; details: rote show ID", columns, [row(document) for document in documents])


def _method(method: Method) -> tuple[Any, ...]:
    return method.id, ", ".join(method.tasks), method.summary


def _result(document: dict[str, Any]) -> tuple[Any, ...]:
    return document["id"], document["kind"], document["statement"]


def _named(document: dict[str, Any]) -> tuple[Any, ...]:
    return document["id"], document["summary"]


def _target(document: dict[str, Any]) -> tuple[Any, ...]:
    return document["id"], document["extra"], document["summary"]


TABLES = {
    "methods": ("methods (rote build FACTS --method ID)", ["method", "stores", "summary"], _method),
    "results": ("results (rote bounds evaluates them)", ["result", "kind", "statement"], _result),
    "sources": ("sources of facts (rote build NAME)", ["source", "facts"], _named),
    "protocols": ("training protocols (rote train --protocol NAME)", ["protocol", "summary"], _named),
    "targets": ("export targets (rote export MODEL --to NAME)", ["target", "extra", "writes"], _target),
}
"""Title, columns and row of each table."""
