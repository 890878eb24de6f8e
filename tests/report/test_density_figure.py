"""The figure of bits per parameter against the head dimension."""

from __future__ import annotations

import pytest

from rote.charts.drawing import write_chart
from rote.errors import InputError
from rote.experiments.densest import Densest, ShapeResult
from rote.models.attention_only import AttentionOnly


def shape_result(dim: int, head_dim: int, code: float, vocab: int = 20) -> ShapeResult:
    spec = AttentionOnly(vocab=vocab, context=2, dim=dim, head_dim=head_dim, heads=30 // head_dim)
    return ShapeResult(spec, 100, 1, 0.5, code, code / 2, 3.0, 0, 0, 1.0)


def test_one_curve_per_dimension_with_the_best_vocabulary(tmp_path):
    shapes = [
        shape_result(6, 1, 2.5),
        shape_result(6, 2, 2.4),
        shape_result(6, 2, 1.0, vocab=30),
        shape_result(6, 6, 1.2),
        shape_result(8, 2, 2.2),
        shape_result(8, 3, 2),
    ]
    search = Densest(10_000, "code", (tuple(shapes), tuple(shapes[:2])), 0)
    path = write_chart(search.chart(), tmp_path / "density.svg")
    text = path.read_text()
    for shown in ("d = 6", "d = 8", "k = d", "bits per parameter", "Morris et al. 2025: 3.6", "100 steps"):
        assert shown in text
    assert list(tmp_path.iterdir()) == [path]


def test_a_search_of_two_head_dimensions_has_no_curve():
    search = Densest(10_000, "code", ((shape_result(6, 1, 2.5), shape_result(6, 2, 2.4)),), 0)
    with pytest.raises(InputError, match="fewer than three head dimensions"):
        search.chart()
