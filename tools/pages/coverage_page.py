"""docs/coverage.md, generated from the records of `tools/pages/coverage`."""

from __future__ import annotations

from pages.coverage import COVERAGE, STATUSES, Item
from pages.record_table import record_table

INTRODUCTION = """\
Each statement, figure and question of the papers and slides that rote began from, and where it is: results,
constructions, figures, modules, pages and tests by name. A test checks that they exist. This page is generated from
`tools/pages/coverage` (`python tools/write_pages.py`)."""


def coverage_page() -> str:
    """The page as Markdown: a summary, then one table per source."""
    lines = ["# Coverage of the papers", "", *INTRODUCTION.splitlines(), ""]
    every = [item for items in COVERAGE.values() for item in items]
    lines += record_table(
        ["status", "meaning", "items"],
        [[status, meaning, sum(item.status == status for item in every)] for status, meaning in STATUSES.items()],
    )
    lines += ["", f"{len(every)} items. What is not complete:", ""]
    lines += [
        f"- {item.item} ({item.place}): {item.status}. {item.reason}" for item in every if item.status != "complete"
    ]
    for source, items in COVERAGE.items():
        complete = sum(item.status == "complete" for item in items)
        lines += ["", f"## {source}", "", f"{complete} of {len(items)} complete.", ""]
        lines += record_table(["item", "place", "status", "in rote", "remark"], [_row(item) for item in items])
    return "\n".join(lines) + "\n"


def _row(item: Item) -> list[str]:
    return [item.item, item.place, item.status, ", ".join(f"`{name}`" for name in item.where), item.reason]
