"""Write the pages of docs/ that are generated from records: `python tools/write_pages.py`."""

from __future__ import annotations

from pathlib import Path

from pages.coverage_page import coverage_page
from pages.errata_page import errata_page
from pages.verdicts_page import verdicts_page

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {"errata.md": errata_page, "coverage.md": coverage_page, "verdicts.md": verdicts_page}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print(DOCS / name)


if __name__ == "__main__":
    main()
