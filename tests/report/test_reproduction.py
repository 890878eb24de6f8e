"""A figure reproduced by one library call: what the command line prints is what is returned and written."""

import json

from rote.experiments.lookups.plan import FigurePlan
from rote.report.reproduction import reproduce_figure


def test_drawings_and_summary_are_written_beside_the_run(tmp_path):
    plan = FigurePlan.of("dana2025.fig4", quick=True, repeats=1)
    figure = reproduce_figure(plan, tmp_path)
    assert (figure.reproduction.trained, figure.reproduction.trials) == (6, 6)
    assert [path.name for path in figure.figures] == [
        "dana2025.fig4.png", "dana2025.fig4.svg", "dana2025.fig4-uniform.png", "dana2025.fig4-uniform.svg",
    ]  # fmt: skip
    assert all(path.is_file() for path in figure.figures)
    document = figure.summary()
    assert document["run"] == str(tmp_path)
    assert document["figures"] == [str(path) for path in figure.figures]
    written = json.loads((tmp_path / "figures" / "dana2025.fig4.json").read_text())
    assert written == json.loads(json.dumps(document))
    again = reproduce_figure(plan, tmp_path)
    assert again.reproduction.trained == 0
    assert again.reproduction.findings.series == figure.reproduction.findings.series
