"""Every page is reached from the first one, and every link to a file or heading of the repository leads somewhere."""

from __future__ import annotations

import ast
import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "generated" not in page.parts)
OTHERS = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "benchmarks/README.md")
]
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def listed(page: Path) -> set[Path]:
    """Pages in the tables of contents of a page."""
    lines = [line for block in TOCTREE.findall(page.read_text(encoding="utf-8")) for line in block.splitlines()]
    return {(page.parent / f"{line}.md").resolve() for line in lines if line and not line.startswith(":")}


@cache
def anchors(page: Path) -> set[str]:
    """Headings as GitHub and the site spell them in links."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def slug(heading: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").lower().strip()
    kept = (letter for letter in plain if letter in " -_" or unicodedata.category(letter)[0] in "LN")
    return "".join(kept).replace(" ", "-")


def broken(page: Path) -> list[str]:
    found = []
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (page.parent / target).resolve() if target else page
        headings = anchor and path.suffix == ".md" and path.exists() and anchor not in anchors(path)
        if not path.exists() or headings:
            found.append(link)
    return found


def test_every_page_is_in_a_table_of_contents():
    reached, waiting = set(), {DOCS / "index.md"}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting |= {other for other in listed(page) if other.exists()} - reached
    assert [str(page.relative_to(DOCS)) for page in PAGES if page not in reached] == []


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert broken(page) == []


def test_files_that_pages_link_to_are_pages():
    """The site has no other files of the repository; a link to one ends its build."""
    (mapped,) = re.findall(
        r"^PAGES = (\{.*?^\})", (DOCS / "conf.py").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    pages = {(DOCS / path).resolve() for path in ast.literal_eval(mapped)}
    included = [path for path in OTHERS if path.resolve() in pages]
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in [*PAGES, *included]
        for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
        if re.search(r"\.md(#|$)", link) and "://" not in link
    }
    assert included
    assert [str(path) for path in linked if DOCS not in path.parents and path not in pages] == []


def test_a_broken_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A heading\n[a](#a-heading) [b](#none) [c](none.md) [d](page.md#a-heading) [e](https://x.y)\n")
    assert broken(page) == ["#none", "none.md"]
