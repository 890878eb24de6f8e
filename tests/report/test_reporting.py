"""Reports: one file that loads nothing, and the same as files for a paper."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from rote.cli import main
from rote.errors import InputError
from rote.report.html import html, write_html
from rote.report.markdown import write_markdown
from rote.report.reporting import report_on

MOST_BYTES = 3 * 2**20


class Loads(HTMLParser):
    """Collects whatever a browser would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.loads += [f"{tag} {name}={value}" for name, value in attrs if name in ("src", "srcset", "data", "action")]
        self.loads += [
            f"{tag} {value}" for name, value in attrs if name == "href" and not (value or "").startswith("#")
        ]


def loads_of(text: str) -> Loads:
    seen = Loads()
    seen.feed(text)
    return seen


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from rote.constructions.build import build
    from rote.folders import write_folder
    from rote.tasks.facts import facts

    task = facts("random:vocab=8,context=2,facts=40,seed=1")
    built = build(task)
    path = tmp_path_factory.mktemp("model") / "model"
    return write_folder(path, built.model, task.origin, built.provenance, built.certificate)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    from rote.experiments.lookups.schedule import LookupSchedule
    from rote.experiments.reproduce import reproduce
    from rote.papers import figure_named

    folder = tmp_path_factory.mktemp("runs") / "fig4"
    reproduce(LookupSchedule.of(figure_named("dana2025.fig4"), quick=True, repeats=2), folder)
    return folder


def test_a_report_is_one_file_that_loads_and_runs_nothing(model, run, tmp_path):
    path = write_html(report_on([model, run]), tmp_path / "report.html")
    text = path.read_text(encoding="utf-8")
    seen = loads_of(text)
    assert seen.loads == []
    assert "script" not in seen.tags
    assert "@import" not in text
    assert "url(" not in text
    assert path.stat().st_size < MOST_BYTES
    assert list(tmp_path.iterdir()) == [path]
    assert text.count("<svg") > 8
    assert "every statement holds" in text


def test_claims_come_with_verdict_and_rule_and_numbers_with_their_command(run):
    text = html(report_on([run]))
    assert re.search(r"SUPPORTED|UNDECIDED", text)
    assert "Rule: " in text
    assert "rote reproduce dana2025.fig4 --protocol fast --quick --repeats 2 -o" in text
    assert "12 of 12" in text


def test_a_command_that_a_report_gives_makes_the_model_again(model, tmp_path, capsys):
    text = html(report_on([model]))
    line = re.search(r"rote build (.*) -o ", text)
    assert line is not None
    arguments = line[1].split()
    assert main(["build", *arguments, "-o", str(tmp_path / "again")]) == 0
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "again"), arguments[0]]) == 0
    again, first = (json.loads((path / "certificate.json").read_text()) for path in (tmp_path / "again", model))
    assert again["weights_fingerprint"] == first["weights_fingerprint"]


def test_markdown_writes_tables_and_figures_as_files(model, tmp_path):
    written = write_markdown(report_on([model]), tmp_path, ["svg"])
    text = (tmp_path / "report.md").read_text()
    assert written[0] == tmp_path / "report.md"
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (tmp_path / link).stat().st_size > 0
    assert {path.suffix for path in written} == {".md", ".svg", ".csv"}


def test_the_command_writes_a_report_and_says_where(model, tmp_path, capsys):
    path = tmp_path / "sent.html"
    assert main(["report", str(model), "-o", str(path), "--title", "A <title>", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == str(path)
    assert "<title>A &lt;title&gt;</title>" in path.read_text()


def test_what_is_neither_model_nor_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="neither a model folder"):
        report_on([tmp_path])
    with pytest.raises(InputError, match="at least one"):
        report_on([])
