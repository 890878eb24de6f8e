"""`.plot(ax=)`: the chart of a result on axes of one's own, or on new ones."""

from __future__ import annotations

import matplotlib
import pytest

import rote
from rote.charts import Panels, XYChart
from rote.charts.plotting import Plotted, plot

matplotlib.use("agg")
SPEC = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
RESULTS = {
    "bounds": lambda: rote.bounds(SPEC),
    "plan": lambda: rote.plan("random:vocab=6,context=2,facts=9,seed=1", by_formula=True),
    "capacity": lambda: rote.capacity(SPEC, methods=["rote.readout"]),
    "sweep": lambda: rote.sweep({"vocab": 6, "dim": 4, "head_dim": 2, "heads": "1:3"}, seeds=1, steps=5),
}


@pytest.mark.parametrize("name", RESULTS)
def test_axes_of_ones_own_are_drawn_on(name):
    from matplotlib.figure import Figure

    result = RESULTS[name]()
    left, right = Figure().subplots(1, 2)
    assert result.plot(ax=right) is right
    assert right.get_title().splitlines()[0] == result.chart().title
    assert right.has_data()
    assert not left.has_data()
    # The legend is inside these axes: nothing is put on the rest of the figure.
    assert right.figure.legends == []
    alone = result.plot()
    assert alone.get_title("left") == right.get_title()
    assert alone.figure is not right.figure


def test_several_panels_need_a_figure_of_their_own():
    panels = Panels("both", [XYChart("one", "x", "y", []), XYChart("two", "x", "y", [])])
    axes = plot(panels)
    assert [own.get_title("left") for own in axes.figure.axes] == ["one", "two"]
    with pytest.raises(rote.InputError, match="2 panels"):
        plot(panels, axes)


def test_all_that_has_a_chart_can_be_plotted():
    from rote.experiments.densest import Densest
    from rote.experiments.findings import Findings
    from rote.experiments.lm_capacity.reading import LmCapacity
    from rote.lm.assumptions import Assumptions
    from rote.report.reproduction import ReproducedFigure

    for kind in (Densest, Findings, LmCapacity, Assumptions, ReproducedFigure):
        assert issubclass(kind, Plotted)
        assert kind.chart is not Plotted.chart
