"""Charts: one description, drawn on a page and into files."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from rote.charts import Bar, BarChart, ChartSeries, HeatMap, Mark, XYChart
from rote.charts.axes import Axis
from rote.charts.drawing import write_chart
from rote.charts.svg import svg
from rote.errors import InputError
from rote.experiments.sizing.charts import plan_chart, theory_chart
from rote.experiments.sizing.plan import plan
from rote.experiments.sizing.theory import smallest_by_theory
from rote.measure.head_use import head_table
from rote.measure.inspection import inspect
from rote.measure.precision import recall_by_precision, rounded
from rote.models.attention_only import AttentionOnly
from rote.models.mlp_transformer import MlpTransformer
from rote.report.model_charts import (
    attention_chart,
    components_chart,
    contributions_chart,
    heads_chart,
    lost_chart,
    margins_chart,
    precision_chart,
    specialisation_chart,
)
from rote.report.plan_charts import growth_charts
from rote.tasks.facts import facts
from rote.testing.random_models import random_model
from rote.theory import bounds

CHARTS = {
    "bars": BarChart("bars", "x", [Bar("a <b>", 3.0), Bar("c", -2.0)], line=(1.0, "here"), legend={"blue": "kind"}),
    "xy": XYChart(
        "xy", "x", "y",
        [ChartSeries(style, [Mark(1, 2, "says", 0.5), Mark(3, 4)], style, "green")
         for style in ("points", "line", "dashed", "dotted", "crosses", "joined")],
    ),
    "log": XYChart("log", "x", "y", [ChartSeries("s", [Mark(1, 1e-3), Mark(1e6, 1e12)])], log_x=True, log_y=True),
    "heat": HeatMap("heat", "x", "y", ["a", "b"], ["1"], [[0.5, None]]),
    "signed": HeatMap("signed", "x", "y", ["a", "b"], ["1"], [[0.5, -2.0]]),
    "empty": BarChart("empty", "x", []),
}  # fmt: skip


@pytest.fixture(scope="module")
def built():
    from rote.constructions.build import build

    task = facts("random:vocab=8,context=2,facts=40,seed=1")
    return task, build(task, method="dana2025.theorem1").model


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_well_formed_on_a_page_and_a_file_in_every_format(name, tmp_path):
    drawn = ElementTree.fromstring(svg(CHARTS[name]))
    assert drawn.get("aria-label") == name
    assert "style" not in {key for element in drawn.iter() for key in element.attrib}
    for kind in ("png", "svg", "pdf") if name in ("xy", "heat") else ("png",):
        assert write_chart(CHARTS[name], tmp_path / f"chart.{kind}").stat().st_size > 1000
    with pytest.raises(InputError, match="png, svg, pdf"):
        write_chart(CHARTS[name], tmp_path / "chart.docx")


def test_hovering_tells_the_numbers():
    titles = [element.text for element in ElementTree.fromstring(svg(CHARTS["bars"])).iter("title")]
    assert titles == ["a <b>: 3", "c: -2", "here: 1"]
    assert "says" in [element.text for element in ElementTree.fromstring(svg(CHARTS["xy"])).iter("title")]


def test_an_axis_holds_its_values_and_has_round_ticks():
    for values, log in (([3, 97], False), ([-2, 5], False), ([1, 1e6], True), ([3, 5], True), ([7], False), ([], True)):
        axis = Axis.over(values, log)
        assert all(0 <= axis.place(value) <= 1 for value in values)
        ticks = axis.ticks()
        assert ticks == sorted(ticks)
        assert all(axis.low <= tick * 1.0001 and tick <= axis.high * 1.0001 for tick in ticks)
    assert Axis(0, 10).ticks() == [0, 2, 4, 6, 8, 10]
    assert Axis(1, 1000, True).ticks() == [1, 10, 100, 1000]


def test_charts_of_theory_show_every_result_that_gives_a_model(built):
    task, _ = built
    possible = [row for row in smallest_by_theory(task.shape) if row.possible]
    chart = theory_chart(possible, "bytes")
    assert [(bar.name, bar.value) for bar in chart.bars] == [(row.id, row.bytes) for row in possible]
    for grown, by in zip(growth_charts(task.shape), ("bytes", "parameters"), strict=True):
        own = {
            series.name: mark.y for series in grown.series for mark in series.marks if mark.x == task.shape.associations
        }
        fewest = {row.id: getattr(row, by) for row in reversed(possible) if getattr(row, by)}
        assert own == fewest
    tones = [
        {series.name: (series.tone, series.style) for series in chart.series} for chart in growth_charts(task.shape)
    ]
    assert all(tones[0][name] == tones[1][name] for name in tones[1])


def test_the_chart_of_a_plan_shows_every_row_with_bytes(built):
    task, _ = built
    rows = [row for row in plan(task) if row.bytes is not None]
    chart = plan_chart(rows, "bytes")
    assert sorted((bar.name, bar.value) for bar in chart.bars) == sorted((row.id, row.bytes) for row in rows)
    assert [bar.value for bar in chart.bars] == sorted(bar.value for bar in chart.bars)
    assert {bar.tone for bar in chart.bars} == set(chart.legend)


def test_the_bounds_chart_shows_those_that_apply():
    every = bounds(AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20))
    chart = every.chart(210, "title")
    shown = [bound for bound in every.listed if bound.associations]
    assert [bar.value for bar in chart.bars] == [bound.associations for bound in shown]
    assert [bar.name.split(" (")[0] for bar in chart.bars] == [bound.id for bound in shown]
    assert len(shown) >= 3
    assert {"(" in bar.name for bar, bound in zip(chart.bars, shown, strict=True) if bound.matched} <= {True}
    assert chart.line == (210.0, "210 facts")


def test_charts_of_a_model_show_its_own_numbers(built):
    task, model = built
    table = head_table(model, task)
    margins = [mark.y for mark in margins_chart(table, task).series[0].marks]
    assert margins == sorted(table.margins.tolist())
    seen = inspect(model, task[0])
    assert sum(bar.value for bar in contributions_chart(seen).bars) == pytest.approx(seen.margin, abs=1e-4)
    assert np.array(attention_chart(seen).values).sum(0) == pytest.approx(np.ones(model.spec.heads))
    assert max(bar.value for bar in heads_chart(table).bars) == max(use.loses for use in table.heads)
    assert np.array(lost_chart(table).values).ravel().tolist() == [use.loses for use in table.heads]
    special = specialisation_chart(table)
    assert special is not None
    means = np.average(special.values, axis=0, weights=table.specialisation.facts)
    assert means == pytest.approx([use.mean_to_margin for use in table.heads], abs=1e-5)
    points = recall_by_precision(model, task, bits=(23, 7, 1))
    assert [point.bits for point in points] == [23, 7, 1]
    assert points[0].recalled == task.facts > points[-1].recalled
    assert len(precision_chart(points).series[0].marks) == 3


def test_components_are_drawn_layer_by_head_with_the_mlp_last():
    task = facts("random:vocab=5,context=2,facts=8,seed=1")
    model = random_model(
        MlpTransformer(vocab=5, context=2, dim=4, head_dim=4, heads=3, layers=2, width=6), vocabulary=task.vocabulary
    )
    seen = inspect(model, task[0])
    chart = components_chart(seen)
    assert (chart.rows, chart.columns) == (["0", "1"], ["0", "1", "2", "MLP"])
    direct = next(part.to_margin for part in seen.contributions if part.part == "skip")
    assert np.sum(chart.values) + direct == pytest.approx(seen.margin, abs=1e-4)
    assert chart.values[1][3] == next(part.to_margin for part in seen.contributions if part.name == "mlp 1")


def test_rounding_to_seven_bits_is_what_bfloat16_keeps(built):
    _, model = built
    coarse, cast = rounded(model, 7), model.to("bfloat16").to("float32")
    assert all((coarse.weights[name] == cast.weights[name]).all() for name in model.weights)
