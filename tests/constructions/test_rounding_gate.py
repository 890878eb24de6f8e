"""Builds whose margins rounding moves too far: drawn again, given more heads where that is open, never refused."""

import numpy as np
import pytest

import rote
from rote.constructions.construction import Request
from rote.constructions.dana2025 import interpolation
from rote.constructions.dana2025.options import Theorem1Options
from rote.constructions.dana2025.theorem1 import layer_for
from rote.measure.certificate import MOST_ROUNDING
from rote.tasks import AssociationTask, Vocabulary

FACTS = "random:vocab=30,context=2,facts=130,seed=1"


@pytest.fixture
def unreachable(monkeypatch):
    """A limit that no float32 model keeps to."""
    monkeypatch.setattr(interpolation, "MOST_ROUNDING", 1e-12)


def three_letters(facts: int) -> AssociationTask:
    """Keys of three letters that share most of their ends, as airports do."""
    rng = np.random.default_rng(0)
    numbers = rng.choice(26**3, facts, replace=False)
    contexts = np.stack([numbers // 26**place % 26 for place in range(3)], 1)
    return AssociationTask(contexts, rng.integers(0, 26, facts), Vocabulary.numbered(26))


def test_sizes_that_were_given_are_drawn_again_and_kept(unreachable):
    built = rote.build(FACTS, dim=10, head_dim=10, heads=12)
    assert built.model.spec.heads == 12
    assert built.certificate.complete
    assert built.certificate.margin_rounding > 1e-12
    assert built.attempts == ()


def test_the_better_of_two_draws_is_kept(unreachable, monkeypatch):
    both = rote.build(FACTS, dim=10, head_dim=10, heads=12).certificate.margin_rounding
    monkeypatch.setattr(interpolation, "ROUNDING_REDRAWS", 0)
    assert both <= rote.build(FACTS, dim=10, head_dim=10, heads=12).certificate.margin_rounding


def test_an_open_number_of_heads_grows_and_says_why(unreachable):
    built = rote.build(FACTS, "dana2025.theorem1", dim=10, head_dim=10)
    assert built.certificate.complete
    assert built.attempts
    assert all("rounding moves a margin by" in attempt.reason for attempt in built.attempts)


def test_half_precision_is_stated_and_not_held_to_the_limit():
    built = rote.build(FACTS, "dana2025.theorem1", dim=10, head_dim=10, heads=18, dtype="bfloat16")
    assert built.certificate.complete
    assert built.certificate.margin_rounding > MOST_ROUNDING
    assert built.certificate.measured["redraws"] == 0


def test_the_arrowhead_has_room_unless_its_heads_are_given():
    task = three_letters(2600)
    built = rote.build(task, "dana2025.theorem1")
    assert built.certificate.measured["method"] == "arrowhead"
    assert built.certificate.margin_rounding < MOST_ROUNDING
    fewest = -(-(2600 - 20) // 20)
    assert built.model.spec.heads == fewest + -(-fewest // 20)
    # What a plan starts from is what is built.
    assert layer_for(Request(task, Theorem1Options())) == built.model.spec


def test_the_solve_is_chosen_once(monkeypatch):
    asked, refusal = [], interpolation.bordered_refusal
    monkeypatch.setattr(interpolation, "bordered_refusal", lambda *sizes: asked.append(sizes) or refusal(*sizes))
    rote.build(three_letters(60), "dana2025.theorem1")
    assert len(asked) == 1
