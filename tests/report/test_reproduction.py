"""Figures reproduced by one library call: what the command line prints is what is returned and written."""

import json
from dataclasses import replace

import pytest

import rote
from rote.errors import InputError
from rote.experiments.ledgers.ledger import Ledger
from rote.papers import FIGURES, figure_named
from rote.report.html import html
from rote.report.reporting import report_on
from rote.report.run_view import RunView

FIG4 = "dana2025.fig4"


def test_drawings_summary_and_report_are_written_beside_the_run(tmp_path):
    result = rote.reproduce(FIG4, tmp_path, quick=True, repeats=1)
    (figure,) = result
    assert (figure.trained, figure.trials) == (6, 6)
    names = ["dana2025.fig4.png", "dana2025.fig4.svg", "dana2025.fig4-uniform.png", "dana2025.fig4-uniform.svg"]
    assert [path.name for path in figure.files] == names
    assert all(path.is_file() for path in figure.files)
    document = result.summary()
    assert document["run"] == str(tmp_path)
    assert document["figures"] == [str(path) for path in figure.files]
    assert document["report"] == str(result.report) == str(tmp_path / "report.html")
    written = json.loads((tmp_path / "figures" / "dana2025.fig4.json").read_text())
    assert {**written, "report": str(result.report)} == json.loads(json.dumps(document))
    assert result.frame().height == 6
    assert result.figure().axes[0].get_xlabel() == "heads H"
    assert [claim.id for claim, _ in result.verdicts] == [claim.id for claim in figure_named(FIG4).claims]
    again = rote.reproduce(FIG4, tmp_path, quick=True, repeats=1, formats=["svg"], report=False)
    assert again[FIG4].trained == 0
    assert again[FIG4].findings.series == figure.findings.series
    assert again.report is None


def test_a_paper_is_one_call_with_a_page_about_all_its_runs(tmp_path, monkeypatch):
    statements = [figure_named(f"dana2025.{name}-checked") for name in ("lemma2", "remark2")]
    monkeypatch.setitem(FIGURES, "dana2025", tuple(statements))
    ended = []
    result = rote.reproduce("dana2025", tmp_path, quick=True, workers=1, formats=["svg"], ended=ended.append)
    assert [figure.findings.figure.id for figure in result] == [figure.id for figure in statements]
    assert ended == list(result)
    assert result.report == tmp_path / "report.html"
    assert all(figure.title in result.report.read_text().replace("&#39;", "'") for figure in statements)
    assert [document["figure"] for document in result.summary()] == [figure.id for figure in statements]
    assert len(result.verdicts) == sum(len(figure.claims) for figure in statements)
    with pytest.raises(InputError, match="take one by its id"):
        result.figure()


def test_a_ledger_is_read_and_arranged_once(tmp_path, monkeypatch):
    from rote.experiments.lookups import findings

    reads, arranged = [], []
    read, arrange = Ledger.rows, findings.lookup_findings
    monkeypatch.setattr(Ledger, "rows", lambda self, *rest: reads.append(1) or read(self, *rest))
    monkeypatch.setattr(findings, "lookup_findings", lambda *given: arranged.append(1) or arrange(*given))
    rote.reproduce(FIG4, tmp_path, quick=True, repeats=1, formats=["svg"])
    assert (len(reads), len(arranged)) == (1, 1)


def test_a_ledger_says_how_its_figures_were_asked_for(tmp_path):
    rote.reproduce(FIG4, tmp_path, quick=True, repeats=1, formats=[], report=False)
    assert RunView.of(tmp_path).about["asked"] == {FIG4: {"protocol": "fast", "quick": True, "repeats": 1}}
    (findings,) = RunView.of(tmp_path).findings
    assert (findings.quick, findings.schedule.repeats, findings.missing) == (True, 1, 0)


def test_an_older_ledger_is_read_as_a_complete_run_and_says_so(tmp_path):
    rote.reproduce(FIG4, tmp_path, quick=True, repeats=1, formats=[], report=False)
    view = RunView.of(tmp_path)
    del view.contents.about["asked"]
    older = replace(view, contents=view.contents)
    (findings,) = older.findings
    assert not findings.quick
    assert findings.missing == len(findings.schedule.trials()) - 6
    assert "does not record the options of its figures" not in html(report_on([tmp_path]))
    from rote.report.run_section import ASSUMED, run_section

    first = run_section(older).subsections[0].elements
    assert ASSUMED in [getattr(element, "text", "") for element in first]


def test_what_no_figure_takes_is_rejected_before_anything_runs(tmp_path):
    with pytest.raises(InputError, match=r"`texts=wordnet`: is not about texts"):
        rote.reproduce(FIG4, tmp_path / "run", texts="wordnet")
    with pytest.raises(InputError, match=r"`part=1/2`: is for figures about look-up tables"):
        rote.reproduce("dana2025.lemma2-checked", tmp_path / "run", part="1/2")
    with pytest.raises(InputError, match="no such paper or figure"):
        rote.reproduce("dana2025.fig99")
    assert not (tmp_path / "run").exists()


def test_parts_are_run_alone(tmp_path):
    result = rote.reproduce(FIG4, tmp_path, quick=True, repeats=1, part="1/6")
    assert (len(result), [part.trained for part in result.parts]) == (0, [1])
    assert result.summary()["part"] == "1/6"
    assert not (tmp_path / "figures").exists()
