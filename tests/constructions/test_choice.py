"""A task that is built without a method ends in a model that recalls everything, or in the reason why none does."""

import math

import pytest

from rote.constructions import CONSTRUCTIONS
from rote.constructions.build import build
from rote.constructions.choice import (
    FALLBACKS,
    STURDY,
    TRANSFORMERS,
    Budget,
    Candidate,
    Shape,
    fallbacks,
    smallest_first,
    usual_budget,
)
from rote.constructions.construction import Request, parse_options
from rote.constructions.dana2025.interpolation import SHARES
from rote.errors import CheckFailed, InputError
from rote.models.model import DTYPES
from rote.tasks import AssociationTask
from rote.tasks.facts import facts

ONE_TOKEN = AssociationTask.from_facts([((f"key{i}",), f"answer{i % 12}") for i in range(60)])
CROWDED = AssociationTask.from_facts([(tuple(f"{i:09b}"), f"answer{i * i % 11}") for i in range(512)])
"""Every key of nine binary letters: two tokens let no head tell as many keys apart as the sizes promise."""


def test_the_smallest_transformer_is_built_and_the_next_is_named():
    countries = facts("countries")
    candidates, _ = smallest_first(countries, None)
    assert [candidate.parameters for candidate in candidates] == sorted(
        candidate.parameters for candidate in candidates
    )
    built = build(countries)
    assert built.provenance["method"] == candidates[0].method == "rote.selector"
    assert built.model.parameters == candidates[0].parameters == 3560
    assert built.attempts == ()
    assert built.runner_up == candidates[1]
    named = build(countries, "rote.selector")
    assert built.certificate.weights_fingerprint == named.certificate.weights_fingerprint
    assert named.runner_up is None


def test_the_budget_grows_with_the_table():
    assert [usual_budget(facts) for facts in (10, 15_000, 52_062, 60_000, 1_000_000)] == [30, 30, 105, 120, 120]
    task = facts("random:vocab=20,context=2,facts=60,seed=1")
    assert build(task).budget == 30
    assert build(task, within=7.0).budget == 7
    assert build(task, "dana2025.theorem1").budget is None
    hasty = build(task, within=0.0)
    assert hasty.budget_used is not None
    assert hasty.budget_used > hasty.budget == 0


def test_a_method_does_not_spend_what_the_quickest_one_needs():
    budget = Budget(100)
    quick = Candidate("dana2025.theorem1", 10, cpu_seconds=60)
    assert budget.reserve([quick, Candidate("rote.readout", 5, cpu_seconds=9_000)]) == 60
    assert budget.deadline_for(Candidate("rote.readout", 5, cpu_seconds=30), 60) == pytest.approx(budget.began + 40)
    assert Budget(50).reserve([quick]) == 0


def test_facts_that_end_alike_are_foretold_to_take_longer():
    """The cube of their number counts: they share one factorisation."""
    theorem1 = CONSTRUCTIONS["dana2025.theorem1"]
    options = parse_options(theorem1, {})

    def foretold(last_tokens: int) -> float:
        rows = [(f"a{row // last_tokens}", f"b{row % last_tokens}") for row in range(30_000)]
        task = AssociationTask.from_facts([(row, "x") for row in rows])
        return theorem1.expected_seconds(Request(task, options))

    assert foretold(100) == pytest.approx(0.5 + 30_000 / 700)
    assert foretold(4) > foretold(100) + 20


@pytest.fixture
def readout_or_theorem1(monkeypatch):
    """Two methods to choose from: the smaller one takes longer. Neither rounding nor other load matters."""
    monkeypatch.setattr("rote.constructions.choice.OVERRUN", math.inf)
    monkeypatch.setattr("rote.constructions.build.STURDY", math.inf)
    monkeypatch.setattr("rote.constructions.choice.TRANSFORMERS", (Shape("rote.readout"), Shape("dana2025.theorem1")))


def test_few_dimensions_are_taken_where_rounding_allows_them(monkeypatch):
    task = facts("random:vocab=20,context=2,facts=60,seed=1")
    built = build(task)
    assert built.provenance["method"] == "dana2025.corollary1"
    assert (built.certificate.margin_rounding or 0.0) <= STURDY
    monkeypatch.setattr("rote.constructions.build.STURDY", 1e-9)
    sturdier = build(task)
    assert sturdier.model.spec.dim > built.model.spec.dim == 2
    left = {attempt.what: attempt.reason for attempt in sturdier.attempts}
    assert "rounding moves logit margins" in left["dana2025.corollary1"]
    assert "dana2025.theorem1 dim=3" in left


@pytest.mark.usefixtures("readout_or_theorem1")
def test_what_takes_longer_than_the_budget_is_left_to_a_faster_method():
    task = facts("random:vocab=20,context=2,facts=100,seed=1")
    hasty = build(task, within=0.0)
    assert hasty.provenance["method"] == "dana2025.theorem1"
    assert "`within`" in next(attempt for attempt in hasty.attempts if "readout" in attempt.what).reason
    patient = build(task, within=600.0)
    assert patient.provenance["method"] == "rote.readout"
    assert patient.model.parameters < hasty.model.parameters


@pytest.mark.usefixtures("readout_or_theorem1")
def test_a_fit_stops_at_its_deadline(monkeypatch):
    task = facts("random:vocab=20,context=2,facts=100,seed=1")
    monkeypatch.setattr("rote.constructions.choice.Budget.left", 600.0)
    hasty = build(task, within=0.0)
    assert hasty.provenance["method"] == "dana2025.theorem1"
    assert "ran out" in str(hasty.attempts)


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_countries_are_held_in_every_dtype(dtype):
    built = build(facts("countries"), dtype=dtype)
    assert built.certificate.dtype == dtype
    assert built.certificate.recalled == built.certificate.facts == 987


def test_heads_are_added_where_the_fewest_do_not_do():
    task = facts("countries")
    built = build(task, "dana2025.theorem1", dtype="bfloat16")
    spec = build(task, "dana2025.theorem1").model.spec
    fewest = spec.heads
    assert fewest < built.model.spec.heads <= fewest * (1 + max(SHARES)) + 1
    assert len(built.attempts) >= 1
    assert f"heads {fewest}" in built.attempts[0].what
    assert f"heads {fewest}" not in built.attempts[0].reason
    with pytest.raises(CheckFailed, match=f"heads {fewest}"):
        build(task, "dana2025.theorem1", dtype="bfloat16", heads=fewest, head_dim=spec.head_dim)


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_keys_of_one_token_go_to_a_method_without_attention(dtype):
    built = build(ONE_TOKEN, dtype=dtype)
    assert built.certificate.complete
    assert "one token" in built.attempts[0].reason
    assert built.provenance["method"] in FALLBACKS


def test_facts_that_crowd_on_few_tokens_go_to_the_next_method():
    built = build(CROWDED, within=0.0)
    assert built.certificate.complete
    assert built.provenance["method"] in FALLBACKS
    assert {attempt.what for attempt in built.attempts} >= {"rote.selector", "dana2025.theorem1"}
    # The named method alone has no way out, and says so.
    with pytest.raises(CheckFailed, match="could not be stored"):
        build(CROWDED, "dana2025.theorem1")


@pytest.mark.parametrize(
    "table",
    [
        [(("a", "b"), "x")],
        [(("a",), "x")],
        [((f"k{i % 5}", f"m{i // 5}"), "x") for i in range(20)],
        [((f"k{i}",), "x") for i in range(20)],
        [((f"k{i % 5}", f"m{i // 5}"), f"x{i}") for i in range(40)],
        [((f"k{i}",), f"k{(7 * i + 3) % 40}") for i in range(40)],
        [((f"k{i}",), f"x{i % 2}") for i in range(40)] + [(("k3",), "x0")],
    ],
    ids=["a fact", "a fact of one token", "one answer", "one answer, one token", "every answer different",
         "answers that are keys", "a contradiction"],
)  # fmt: skip
def test_small_and_odd_tables_are_held(table):
    assert build(AssociationTask.from_facts(table)).certificate.complete


def test_when_nothing_holds_every_attempt_is_told(monkeypatch):
    monkeypatch.setattr("rote.constructions.choice.FALLBACKS", {"kajitsuka2025.deep_sets": 200_000, "madden2025": 10})
    with pytest.raises(CheckFailed, match="no method stored all 60 facts in bfloat16") as caught:
        build(ONE_TOKEN, dtype="bfloat16")
    message = str(caught.value)
    assert "one token" in message
    assert "kajitsuka2025.deep_sets" in message
    assert "madden2025: not tried beyond 10 facts" in message
    reasons = [line.partition(": ")[2] for line in message.splitlines()[1:]]
    assert len(set(reasons)) == len(reasons)
    assert message.count("dana2025.theorem1") == 1


def test_bad_input_is_refused_at_once():
    with pytest.raises(InputError, match="float8"):
        build(ONE_TOKEN, dtype="float8")
    with pytest.raises(InputError, match="seed -1"):
        build(ONE_TOKEN, seed=-1)


def test_methods_to_try_are_registered_for_associations():
    for id in (*(shape.method for shape in TRANSFORMERS), *FALLBACKS):
        assert AssociationTask in CONSTRUCTIONS[id].tasks
    assert fallbacks(ONE_TOKEN) == ([*FALLBACKS], [])
    for shape in TRANSFORMERS:
        assert CONSTRUCTIONS[shape.method].spec is not None


def test_the_smallest_folder_is_found_over_all_architectures():
    task = facts("countries:facts=200,seed=1")
    built = build(task, smallest=True)
    sizes = {
        attempt.what: int(attempt.reason.split()[3].replace(",", ""))
        for attempt in built.attempts
        if attempt.reason.startswith("a folder of")
    }
    assert len(sizes) > 2
    assert built.summary()["folder_bytes"] < min(sizes.values())
    assert built.certificate.complete
    known = {attempt.what.split(",")[0] for attempt in built.attempts} | {built.provenance["method"]}
    assert {"rote.selector", "kajitsuka2025.embedding_table", "dana2025.theorem1"} <= known


def test_the_smallest_folder_within_no_time_is_the_quickest_and_says_what_was_left():
    task = facts("countries:facts=200,seed=1")
    hasty = build(task, smallest=True, within=0.0)
    assert any("a larger `within` allows them" in attempt.reason for attempt in hasty.attempts)
    assert not any(attempt.reason.startswith(f"{attempt.what}: ") for attempt in hasty.attempts)


def test_the_smallest_folder_chooses_its_own_method():
    with pytest.raises(InputError, match="leave `method`, sizes and options out"):
        build("countries", "rote.selector", smallest=True)
