"""`rote list`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from rote.cli.output import AsJson, print_json, print_table

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
    title, columns = TABLES[what]
    rows = [[_cell(document, field) for field in columns.values()] for document in documents]
    print_table(f"{title}; details: rote show ID", list(columns), rows)


def _cell(document: Any, field: str) -> Any:
    value = document[field] if isinstance(document, dict) else getattr(document, field)
    return ", ".join(value) if isinstance(value, tuple) else value


TABLES = {
    "methods": ("methods (rote build FACTS --method ID)", {"method": "id", "stores": "tasks", "summary": "summary"}),
    "results": ("results (rote bounds evaluates them)", {"result": "id", "kind": "kind", "statement": "statement"}),
    "sources": ("sources of facts (rote build NAME)", {"source": "id", "facts": "summary"}),
    "protocols": ("training protocols (rote train --protocol NAME)", {"protocol": "id", "summary": "summary"}),
    "targets": (
        "export targets (rote export MODEL --to NAME)",
        {"target": "id", "extra": "extra", "writes": "summary"},
    ),
}
"""Title of each table, and the field that each column shows."""
