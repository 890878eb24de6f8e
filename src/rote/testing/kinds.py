"""What every kind of figure must satisfy: it resumes, workers change nothing, and all that shows it shows the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import pytest
from markupsafe import escape

from rote.charts.svg import svg
from rote.cli.reproduce import show
from rote.display import number
from rote.experiments.findings import Findings
from rote.experiments.kind import RunChoices
from rote.experiments.kinds import kind_of, schedule_of
from rote.experiments.ledgers.ledger import Ledger
from rote.experiments.paper_overview import figure_overview
from rote.experiments.reproduce import Reproduction, reproduce
from rote.papers.claims import OUTCOMES, PublishedFigure, Rule
from rote.report.html import html
from rote.report.reporting import report_on
from rote.report.reproduction import ReproducedFigure

QUICK = RunChoices(quick=True, repeats=1)


@dataclass(frozen=True)
class FigureCase:
    """One figure in the suite, small enough to be run a few times.

    >>> from rote.papers import figure_named
    >>> from rote.testing import FigureCase
    >>> FigureCase(figure_named("dana2025.lemma2-checked")).choices.quick
    True
    """

    figure: PublishedFigure
    choices: RunChoices = QUICK


class FigureKindSuite:
    """Tests of kinds of figures: subclass it and give `cases`, one figure of each kind.

    >>> from rote.papers import figure_named
    >>> from rote.testing import FigureCase, FigureKindSuite
    >>> class TestStatements(FigureKindSuite):
    ...     cases = {"statements": FigureCase(figure_named("dana2025.lemma2-checked"))}
    """

    cases: ClassVar[Mapping[str, FigureCase]] = {}
    """Names of kinds, each with a figure; the figures are registered, so that their ids are found."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Every test once per kind."""
        if "kind" in metafunc.fixturenames:
            metafunc.parametrize("kind", list(self.cases))

    def run(self, kind: str, folder: Path, workers: int = 1) -> Reproduction:
        case = self.cases[kind]
        return reproduce(schedule_of(case.figure, case.choices), folder, workers=workers)

    @pytest.fixture
    def ended(self, kind: str, tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
        """A run that several tests look at."""
        if (type(self), kind) not in _ENDED:
            _ENDED[type(self), kind] = self.run(kind, tmp_path_factory.mktemp("run"))
        return _ENDED[type(self), kind]

    def test_a_run_resumes_and_workers_change_nothing(
        self, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        complete = self.run(kind, tmp_path / "one")
        assert self.run(kind, tmp_path / "one").trained == 0
        assert lasting(self.run(kind, tmp_path / "two", workers=2).findings) == lasting(complete.findings)
        record, recorded = Ledger.record, []

        def interrupted(self: Ledger, *arguments: Any) -> Any:
            recorded.append(1)
            if len(recorded) == 2:
                raise KeyboardInterrupt
            return record(self, *arguments)

        with monkeypatch.context() as patched:
            patched.setattr(Ledger, "record", interrupted)
            with pytest.raises(KeyboardInterrupt):
                self.run(kind, tmp_path / "cut")
        resumed = self.run(kind, tmp_path / "cut")
        assert 0 < resumed.trained < complete.trials
        assert lasting(resumed.findings) == lasting(complete.findings)

    def test_every_claim_is_decided_also_before_anything_was_run(self, kind: str, ended: Reproduction) -> None:
        figure = self.cases[kind].figure
        schedule = schedule_of(figure, self.cases[kind].choices)
        for findings in (kind_of(figure).findings(schedule, {}), ended.findings):
            assert [claim for claim, _ in findings.verdicts] == list(figure.claims)
            assert {verdict.outcome for _, verdict in findings.verdicts} <= set(OUTCOMES)
            assert all(verdict.why for _, verdict in findings.verdicts)
        with pytest.raises(TypeError, match="Unknown"):
            findings.decide(Unknown())

    def test_print_json_and_report_have_the_same_rows(
        self, ended: Reproduction, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "1000")  # no cell is folded
        reproduced = ReproducedFigure.of(ended, ())
        findings = reproduced.findings
        written = json.loads((ended.folder / "figures" / f"{findings.figure.id}.json").read_text(encoding="utf-8"))
        assert written["points"] == json.loads(json.dumps(findings.rows()))
        cells = [[number(column.of(row)) for column in findings.columns] for row in written["points"]]
        assert cells == [[number(cell) for cell in row] for row in findings.tables()[0].rows]
        assert cells
        show(replace(reproduced, files=(ended.folder,)))
        printed = [line.split() for line in capsys.readouterr().out.splitlines()]
        page = html(report_on([ended.folder]))
        for row in cells:
            assert " ".join(row).split() in printed
            assert all(str(escape(cell)) in page for cell in row)
        assert str(escape(findings.title)) in page
        assert str(escape(findings.conditions)) in page

    def test_a_drawing_is_the_same_object_on_a_page_and_in_a_file(self, ended: Reproduction) -> None:
        reproduced = ReproducedFigure.of(ended, ("svg",))
        charts = reproduced.findings.charts()
        assert [path.stem for path in reproduced.files] == list(charts)
        for name, chart in charts.items():
            assert ElementTree.fromstring(svg(chart)).get("aria-label") == chart.title == reproduced.findings.title
            texts: list[Any] = reproduced.figure(name).findobj(_text_class())
            assert reproduced.findings.title in "".join(text.get_text() for text in texts)

    def test_it_is_described_and_its_cost_estimated(self, kind: str) -> None:
        figure = self.cases[kind].figure
        overview = figure_overview(figure)
        assert overview.cells > 0
        assert [claim.id for claim in overview.claims] == [claim.id for claim in figure.claims]
        trials, seconds = kind_of(figure).cost(schedule_of(figure))
        assert trials > 0
        assert seconds > 0


_ENDED: dict[tuple[type, str], Reproduction] = {}


class Unknown(Rule):
    """A rule that no kind decides."""


def lasting(findings: Findings[Any, Any]) -> list[dict[str, Any]]:
    """Rows without the time they took."""
    return [{name: value for name, value in row.items() if name not in ("seconds", "built")} for row in findings.rows()]


def _text_class() -> Any:
    from matplotlib.text import Text

    return Text
