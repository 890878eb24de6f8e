"""What the meter concludes from its points: the plateau, its interval, more steps; loads widened, rates chosen."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from rote.experiments.ledgers.ledger import Ledger
from rote.experiments.lm_capacity import meter as run
from rote.experiments.lm_capacity import points as meter_points
from rote.experiments.lm_capacity.reading import LmCapacity
from rote.lm.capacity.point import ROUNDINGS, LmCapacityPoint
from rote.lm.capacity.strings import StringShape
from rote.lm.language_model import ParameterCount

SHAPE = StringShape(vocab=16, key=2, counted=5)


def point(strings: int, held: float, seed: int = 0, steps: int = 80) -> LmCapacityPoint:
    offered = strings * SHAPE.bits
    return LmCapacityPoint(
        strings=strings, steps=steps, rate=0.1, seed=seed, parameters=100, embeddings=20, offered=offered, held=held,
        recalled=5 * strings if held >= offered else 0, tokens=5 * strings, fresh_gain=-0.01, fresh_error=0.01,
        diverged=False, seconds=1.0, rounded=dict.fromkeys(ROUNDINGS, held / 2),
    )  # fmt: skip


def reading(
    points: list[LmCapacityPoint], shorter: list[LmCapacityPoint] | None = None, protocol="strings"
) -> LmCapacity:
    return LmCapacity("test", protocol, SHAPE, ParameterCount(100, 20), tuple(points), tuple(shorter or []), 0.1, 0)


def test_the_reading_is_the_largest_mean_with_the_interval_of_pooled_seeds():
    found = reading([point(5, 90), point(5, 92, 1), point(8, 150), point(8, 152, 1), point(12, 130), point(12, 132, 1)])
    assert found.best == 8
    assert found.bits_per_parameter == pytest.approx(1.51)
    assert found.without_embeddings == pytest.approx(151 / 80)
    # Every pair differs by .02, so the deviation is .02 / sqrt 2; Student's t with 3 degrees of freedom is 3.182.
    assert found.half_width == pytest.approx(3.182 * 0.02 / 2, rel=1e-3)
    # A size that is recalled whole by all seeds changes nothing.
    whole = [point(3, 3 * SHAPE.bits), point(3, 3 * SHAPE.bits, 1)]
    assert reading([*found.points, *whole]).half_width == found.half_width
    assert found.bracketed
    assert found.rounded == pytest.approx(dict.fromkeys(ROUNDINGS, 0.755))


def test_more_steps_are_compared_with_the_interval():
    full = [point(8, 187.5), point(8, 187.6, 1), point(12, 100), point(12, 100.1, 1)]
    fewer = [point(8, held, seed, steps) for steps, held in ((10, 100), (20, 150), (40, 175)) for seed in (0, 1)]
    found = reading(full, fewer)
    assert [steps for steps, _ in found.by_steps] == [10, 20, 40, 80]
    assert found.gain_of_twice == pytest.approx(0.1255)
    assert found.gain_of_twice > found.half_width
    assert not found.settled
    # Gains halve, so three further doublings add 1/2 + 1/4 + 1/8 of the last; at most they add three times the last.
    assert found.with_more_steps == pytest.approx(1.8755 + 0.875 * 0.1255, abs=0.002)
    assert found.interval == pytest.approx((1.8755 - found.half_width, 1.8755 + found.half_width + 3 * 0.1255))
    assert reading(full, [point(8, 187.5, seed, 40) for seed in (0, 1)]).settled


def test_seeds_are_pooled_over_lengths_of_training_too():
    full = [point(8, 155), point(8, 155, 1), point(12, 100), point(12, 100, 1)]
    fewer = [point(8, 140, 0, 40), point(8, 144, 1, 40)]
    assert reading(full).half_width == 0
    # One pair of three differs, by .04: the variance is .0008 / 3, Student's t with 3 degrees of freedom 3.182.
    assert reading(full, fewer).half_width == pytest.approx(3.182 * math.sqrt(0.0008 / 3 / 2), rel=1e-3)


def test_gains_that_grow_or_shrink_below_nought_bound_what_more_steps_would_hold():
    full = [point(8, 180), point(8, 182, 1)]
    growing = [point(8, held, seed, steps) for steps, held in ((20, 150), (40, 160)) for seed in (0, 1)]
    assert reading(full, growing).with_more_steps == pytest.approx(1.81 + 3 * 0.21)
    falling = [point(8, held, seed, steps) for steps, held in ((20, 150), (40, 190)) for seed in (0, 1)]
    assert reading(full, falling).with_more_steps == pytest.approx(1.81)
    assert reading(full, falling).interval.high == pytest.approx(1.81 + reading(full, falling).half_width)


def test_a_plateau_is_in_sight_where_the_largest_size_adds_no_more_than_seeds_differ():
    flat = reading([point(8, 150), point(8, 154, 1), point(12, 152), point(12, 156, 1)])
    assert flat.best == 12
    assert not flat.bracketed
    assert flat.plateau_in_sight
    assert not reading([point(8, 150), point(8, 151, 1), point(12, 190), point(12, 191, 1)]).plateau_in_sight
    assert not reading([point(8, 150), point(8, 154, 1)]).plateau_in_sight


def test_one_seed_has_no_interval_and_settles_nothing():
    found = reading([point(5, 90), point(8, 100)], [point(8, 80, steps=40), point(8, 60, steps=20)])
    assert math.isnan(found.half_width)
    assert math.isnan(found.interval.low)
    assert not found.settled


def test_facts_count_only_at_full_recall():
    found = reading([point(5, 5 * SHAPE.bits), point(8, 120)], protocol="facts")
    assert found.best == 5
    assert found.bracketed
    assert reading([point(5, 80)], protocol="facts").bits_per_parameter is None


@pytest.mark.parametrize("peak", [0.7, 2.9, 6.0])
def test_loads_are_widened_until_less_is_held_on_both_sides(monkeypatch, peak):
    def pretend(made, shape, strings, steps, rate, seed):
        load = strings * shape.bits / 920
        held = strings * shape.bits * (1 if load <= peak else (peak / load) ** 2)
        return point(strings, held, seed, steps)

    monkeypatch.setattr(meter_points, "measure_point", pretend)
    monkeypatch.setattr(run, "WIDENED", 20)
    found = run.lm_capacity("llama", run.LmSizes(dim=8), vocab=8, key=4, rate=0.1, workers=1)
    assert found.bracketed
    assert found.at(found.sizes[-1])[0].strings > found.best


def test_a_rate_must_be_better_by_more_than_seeds_differ(monkeypatch):
    holds = {0.025: 70, 0.05: 101, 0.1: 100.5, 0.2: 99, 0.4: 50}

    def pretend(made, shape, strings, steps, rate, seed):
        return replace(point(strings, holds[rate], seed, steps), rate=rate)

    monkeypatch.setattr(meter_points, "measure_point", pretend)
    assert run.lm_capacity("llama", run.LmSizes(dim=8), vocab=8, loads=[0.3], workers=1).rate == 0.1
    holds |= {0.2: 110, 0.4: 140}
    assert run.lm_capacity("llama", run.LmSizes(dim=8), vocab=8, loads=[0.3], workers=1).rate == 0.4


def test_points_that_fail_are_recorded_and_the_others_go_on(monkeypatch, tmp_path):
    broken = {0.1}

    def pretend(made, shape, strings, steps, rate, seed):
        if rate in broken:
            raise MemoryError("no room")
        return replace(point(strings, {0.05: 90, 0.2: 100}.get(rate, 10), seed, steps), rate=rate)

    monkeypatch.setattr(meter_points, "measure_point", pretend)
    settings = {"vocab": 8, "loads": [0.3], "workers": 1, "folder": tmp_path}
    found = run.lm_capacity("llama", run.LmSizes(dim=8), **settings)
    assert found.rate == 0.2
    with Ledger.reading(tmp_path) as ledger:
        assert [(failure.key.seed, failure.reason) for failure in ledger.failures()] == [(0, "MemoryError: no room")]
    broken.clear()
    assert run.lm_capacity("llama", run.LmSizes(dim=8), **settings).trained == 1
