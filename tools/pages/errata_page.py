"""docs/errata.md, generated from the records of `rote.papers.errata`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from pages.record_table import record_table
from rote.papers.errata import ERRATA, VERDICTS, Erratum, Verdict
from rote.theory.papers import PAPERS

SECTIONS: dict[str, tuple[Verdict, ...]] = {
    "Errata": ("false", "unproved", "misprint or convention"),
    "Sharper statements": ("sharper statement",),
    "Notes": ("note",),
}

INTRODUCTION = """\
Where a paper's statement fails, the code follows what is true. Each entry quotes the printed words with their place and
version, and names the tests that fail if the entry is wrong. N is the dictionary size, S the context length, d the
embedding dimension, k = d_h the head dimension, H the number of heads. This page is generated from
`rote.papers.errata` (`python tools/write_pages.py`)."""


def errata_page() -> str:
    """The page as Markdown: errata by paper, then sharper statements, then notes."""
    lines = ["# Errata", "", *INTRODUCTION.splitlines(), ""]
    lines += record_table(["kind", "meaning", "entries"], [_kind(verdict) for verdict in VERDICTS])
    for section, verdicts in SECTIONS.items():
        lines += ["", f"## {section}"]
        entries = [entry for entry in ERRATA if entry.verdict in verdicts]
        for paper, of_paper in groupby(entries, key=lambda entry: entry.paper):
            lines += ["", f"### {PAPERS[paper].name}"]
            for entry in of_paper:
                lines += ["", *_entry(entry)]
    return "\n".join(lines) + "\n"


def _kind(verdict: Verdict) -> list[object]:
    return [f"*{verdict}*", VERDICTS[verdict], sum(entry.verdict == verdict for entry in ERRATA)]


def _entry(entry: Erratum) -> Iterable[str]:
    yield f"**{entry.title}.** *{entry.verdict}*. {entry.place}, {entry.version}. `{entry.id}`"
    yield from ("", f"> {_literal(entry.quotation)}")
    if entry.counterexample:
        yield from ("", entry.counterexample)
    yield from ("", entry.truth, "", "Tests: " + ", ".join(f"`{test}`" for test in entry.tests))


def _literal(quotation: str) -> str:
    """The quotation as code, so that no formula in it is set or mended."""
    return f"`` {quotation} ``" if "`" in quotation else f"`{quotation}`"
