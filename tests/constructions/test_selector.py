"""`rote.selector`: orders, layers for every place of the subject, precision, and what it rejects."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rote
from rote.constructions import CONSTRUCTIONS
from rote.constructions.choice import expected_size
from rote.constructions.construction import Request, parse_options
from rote.constructions.rote.selector.consecutive import consecutive_order
from rote.constructions.rote.selector.relations import Relations
from rote.constructions.rote.selector.selector import select
from rote.errors import InputError
from rote.tasks import AssociationTask


def is_consecutive(order: list[int], together: tuple[int, ...]) -> bool:
    places = sorted(order.index(element) for element in together)
    return not places or places[-1] - places[0] == len(places) - 1


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.sets(st.integers(0, n - 1)), max_size=6))))
def test_an_order_is_found_exactly_where_there_is_one(case):
    elements, sets = case[0], [tuple(together) for together in case[1]]
    exists = any(
        all(is_consecutive(list(order), together) for together in sets)
        for order in itertools.permutations(range(elements))
    )
    order = consecutive_order(elements, sets)
    assert (order is not None) == exists
    if order is not None:
        assert sorted(order) == list(range(elements))
        assert all(is_consecutive(order, together) for together in sets)


def table(
    relations: int, subjects: int, answers: int, *, first: bool, own: bool, missing: float = 0.0
) -> AssociationTask:
    """Random answers to (relation, subject) or (subject, relation); `own`: each relation has answers of its own."""
    draw = random.Random(relations * subjects + answers)
    facts = []
    for relation, subject in itertools.product(range(relations), range(subjects)):
        if draw.random() >= missing:
            key = (f"r{relation}", f"s{subject}")
            answer = f"a{relation if own else ''}-{draw.randrange(answers)}"
            facts.append((key[::-1] if first else key, answer))
    return AssociationTask.from_facts(facts)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("relations", "answers"), [(1, 9), (2, 9), (3, 2), (5, 9), (12, 2)])
def test_every_fact_is_recalled_by_a_margin_of_one_at_least(relations, answers, own, first):
    task = table(relations, 23, answers, first=first, own=own, missing=0.2)
    built = rote.build(task, "rote.selector")
    assert built.certificate.recalled == task.facts
    assert built.certificate.min_margin >= 1
    for tensor in built.model.weights.values():
        assert bool((tensor == tensor.round()).all())


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("first", [False, True])
def test_half_precision_splits_numbers_into_digits(dtype, first):
    task = table(3, 60, 200, first=first, own=False)
    built = rote.build(task, "rote.selector", dtype=dtype)
    assert built.certificate.recalled == task.facts
    digits = built.certificate.measured["digits"]
    assert digits == 1 if dtype in ("float64", "float32") else digits > 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_keys_of_three_words_with_the_subject_anywhere(place):
    draw = random.Random(place)
    facts = []
    for year, month, shop in itertools.product("abc", "xy", range(20)):
        key = [f"year {year}", f"month {month}"]
        key.insert(place, f"shop {shop}")
        facts.append((tuple(key), f"{draw.randrange(30)}"))
    built = rote.build(AssociationTask.from_facts(facts), "rote.selector")
    assert built.certificate.recalled == len(facts)
    assert built.model.spec.dim == (7 if place == 2 else 8)


def test_more_answers_than_one_coordinate_of_float32_holds_take_two():
    facts = [((f"r{r}", f"s{s}"), f"a{(s * (r + 3)) % 6007}") for r in range(2) for s in range(6007)]
    built = rote.build(AssociationTask.from_facts(facts), "rote.selector")
    assert built.certificate.recalled == len(facts)
    assert built.certificate.measured["digits"] == 2


def test_countries_takes_two_lines_in_3560_parameters():
    countries = rote.facts("countries")
    built = rote.build(countries, "rote.selector")
    assert built.model.parameters == 3560
    assert built.certificate.recalled == countries.facts == 987
    assert built.certificate.measured == {"relations": 4, "lines": 2, "digits": 1}
    alone = rote.build(countries, "rote.selector", share=False)
    assert alone.model.parameters == 7136


def test_relations_that_share_a_line_read_it_in_one_order():
    relations = Relations.of(rote.facts("countries").majority(), 1)
    for line in relations.lines:
        places = relations.places_on(line)
        for relation in line:
            answers = relations.answers[relation]
            intervals = sorted(
                (int(places[answers == answer].min()), int(places[answers == answer].max()))
                for answer in np.unique(answers[answers >= 0])
            )
            assert all(before[1] < after[0] for before, after in itertools.pairwise(intervals))


def test_points_and_logits_agree_with_the_model():
    task = table(4, 15, 6, first=False, own=True)
    selector = select(task)
    points, largest = selector.layer.points(task.contexts, selector.digits)
    exact = points @ selector.unembedding.slopes.T + selector.unembedding.constants
    logits = rote.build(task, "rote.selector").model.logits(task.contexts)
    assert np.array_equal(logits.numpy(), exact)
    assert np.abs(exact).max() <= selector.largest
    assert largest <= selector.largest


def test_points_are_those_of_hard_attention_with_full_matrices():
    """Keys of two, three and four tokens, among them hundreds of relations."""
    for sizes in ((5, 6), (6, 5), (3, 4, 2), (2, 2, 3, 4), (9, 12, 11)):
        keys = itertools.product(*(range(size) for size in sizes))
        draw = random.Random(sum(sizes))
        facts = [(tuple(f"{place}-{n}" for place, n in enumerate(key)), f"a{draw.randrange(7)}") for key in keys]
        task = AssociationTask.from_facts(facts)
        layer = (selector := select(task)).layer
        read = layer.tokens[task.contexts] + layer.positions
        stream, reach = read[:, -1].copy(), np.abs(read[:, -1])
        for query, key, value, output in zip(layer.query, layer.key, layer.value, layer.output, strict=True):
            seen = ((read[:, -1] @ query)[:, None] * (read @ key)).argmax(axis=1)
            added = read[np.arange(len(read)), seen] @ value.T @ output.T
            stream, reach = stream + added, reach + np.abs(added)
        points, largest = layer.points(task.contexts, selector.digits)
        assert np.array_equal(points, stream[:, : selector.digits])
        assert largest == reach.max()
        asked = np.abs(layer.tokens + layer.positions[-1]) @ np.abs(layer.query).T
        assert layer.largest_asked() == asked.max()


def test_the_size_that_is_foretold_is_the_size_that_is_built():
    task = table(9, 40, 12, first=False, own=False)
    method = CONSTRUCTIONS["rote.selector"]
    foretold = expected_size(method, Request(task, parse_options(method, {})))
    built = rote.build(task, "rote.selector").summary()
    assert foretold is not None
    assert (foretold.parameters, foretold.weights) == (built["parameters"], built["bytes"])


def test_keys_it_cannot_hold_are_rejected():
    with pytest.raises(InputError, match="two positions"):
        rote.build("random:vocab=12,context=2,facts=30,seed=1", "rote.selector")
    with pytest.raises(InputError, match="one token"):
        rote.build("random:vocab=12,context=1,facts=9,seed=1", "rote.selector")
    wide = [((f"r{i}", f"s{i}"), "yes") for i in range(2049)]
    with pytest.raises(InputError, match="2,048 relations"):
        rote.build(AssociationTask.from_facts(wide), "rote.selector")


def test_eight_relations_of_4000_subjects_take_5_9_bits_per_parameter():
    """Any of 4,000^32,000 tables fits in 64,432 parameters: 5.94 bits each by counting tables.

    The estimate from the frequencies of the answers that were drawn is lower, 5.90.
    """
    answers = np.random.default_rng(0).integers(4000, size=(8, 4000))
    facts = [((f"r{r}", f"s{s}"), f"s{answers[r, s]}") for r, s in itertools.product(range(8), range(4000))]
    built = rote.build(AssociationTask.from_facts(facts), "rote.selector")
    assert built.certificate.recalled == len(facts) == 32_000
    assert built.certificate.min_margin == 1
    assert built.model.parameters == 64_432
    assert len(facts) * math.log2(4000) / built.model.parameters == pytest.approx(5.943, abs=1e-3)
    assert built.certificate.bits_per_parameter == pytest.approx(5.898, abs=1e-3)
