"""Edits: every changed fact right, every other kept, forgotten facts gone in the meaning that was asked for."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

import rote
from rote.constructions import CONSTRUCTIONS
from rote.errors import InputError
from rote.tasks import AssociationTask

RANDOM = "random:vocab=20,context=2,facts=150,seed=1"
SOLVED = "dana2025.theorem1"
COUNTRIES = {
    ("capital", "France"): "Paris",
    ("capital", "Japan"): "Tokyo",
    ("capital", "Peru"): "Lima",
    ("currency", "France"): "EUR",
    ("currency", "Japan"): "JPY",
    ("currency", "Peru"): "PEN",
}


def other_answer(task, row):
    return next(answer for answer in map(str, range(task.vocab)) if answer != task[row].answer)


@pytest.fixture(scope="module")
def task():
    return rote.facts(RANDOM)


@pytest.fixture(scope="module")
def built(task):
    return rote.build(task, SOLVED, spare=20)


@pytest.mark.parametrize("count", [1, 40])
def test_changes_are_right_and_other_margins_hardly_move(task, built, count):
    changes = {task[row].key: other_answer(task, row) for row in range(count)}
    edited = rote.edit(built, changes)
    assert edited.certificate.recalled == task.facts
    assert edited.counts == {"changed": count, "added": 0, "forgotten": 0}
    assert edited.largest_margin_change < 0.1 * built.certificate.min_margin
    difference = rote.diff(built, edited)
    assert len(difference.answered_otherwise) == count
    assert {each.name for each in difference.tensors if each.different} == {"layers.0.output"}
    output = next(each for each in difference.tensors if each.name == "layers.0.output")
    assert output.rank <= min(count, built.model.spec.dim)


def test_a_bordered_model_is_edited_group_by_group():
    task = rote.facts("random:vocab=60,context=2,facts=2600,seed=3")
    built = rote.build(task, SOLVED, solve="arrowhead", dim=16, head_dim=8, spare=0)
    changes = {task[row].key: other_answer(task, row) for row in (3, 700, 2599)}
    edited = rote.edit(built, changes)
    assert edited.certificate.recalled == task.facts
    assert edited.largest_margin_change < 0.1 * built.certificate.min_margin
    forgotten = rote.edit(built, [("forget", task[5].key)])
    assert forgotten.certificate.recalled == forgotten.certificate.facts == task.facts - 1


def test_many_edits_in_a_row_lose_nothing(task, built):
    current = built
    for row in range(30):
        current = rote.edit(current, {task[row].key: other_answer(task, row)})
    assert current.certificate.recalled == task.facts
    assert current.certificate.min_margin > 0.5 * built.certificate.min_margin


def test_more_changes_than_a_folder_may_record_are_rejected(task, built, monkeypatch):
    monkeypatch.setattr(import_module("rote.editing.edit"), "MOST_CHANGES", 1)
    once = rote.edit(built, {task[0].key: other_answer(task, 0)})
    with pytest.raises(InputError, match="records at most 1 changes, and these would be 2; build it again"):
        rote.edit(once, {task[1].key: other_answer(task, 1)})


def test_facts_are_added_with_as_many_heads_as_they_need(task):
    built = rote.build(task, SOLVED, spare=0)
    stored = {task[row].key for row in range(task.facts)}
    keys = [(str(a), str(b)) for a in range(20) for b in range(20) if (str(a), str(b)) not in stored][:10]
    edited = rote.edit(built, [("add", key, "7") for key in keys])
    room = built.model.spec.heads * built.model.spec.head_dim - task.facts
    assert edited.certificate.measured["heads_added"] == -(-(10 - room) // built.model.spec.head_dim)
    assert edited.certificate.recalled == task.facts + 10
    assert edited.model.ask(*keys[0]).answer == "7"


def test_an_answer_that_is_new_to_the_vocabulary(task, built):
    edited = rote.edit(built, {task[0].key: "something new"})
    assert edited.model.ask(*task[0].key).answer == "something new"
    assert edited.certificate.recalled == task.facts


def test_erased_facts_have_logits_near_zero_and_are_unknown(task, built):
    edited = rote.edit(built, [("forget", task[4].key)], forget_as="erased")
    logits = edited.model.logits(task.contexts[4:5])
    assert float(logits.abs().max()) < 1e-3 * built.certificate.min_margin
    assert not edited.model.ask(*task[4].key).known
    assert edited.certificate.recalled == edited.certificate.facts == task.facts - 1


@pytest.mark.parametrize("row", [0, 17, 149])
def test_never_stored_does_not_depend_on_the_answer_that_was_stored(task, built, row):
    answers = task.answers.copy()
    answers[row] = task.vocabulary.index[other_answer(task, row)]
    another = replace(task, answers=answers)
    here = rote.edit(built, [("forget", task[row].key)])
    there = rote.edit(rote.build(another, SOLVED, spare=20), [("forget", task[row].key)], another)
    assert rote.diff(here, there, task).same_weights
    assert all(torch.equal(here.model.weights[name], there.model.weights[name]) for name in here.model.weights)


@pytest.mark.parametrize("spare", [None, 20])
def test_never_stored_reads_attention_alone(task, spare):
    built = rote.build(task, SOLVED, **({} if spare is None else {"spare": spare}))
    told = rote.edit(built, [("forget", task[9].key)])
    from rote.constructions.dana2025.never_stored import never_stored
    from rote.progress import SILENT

    blank = {
        name: torch.zeros_like(tensor) if name in ("unembed", "layers.0.output") else tensor
        for name, tensor in built.model.weights.items()
    }
    kept = torch.from_numpy(np.delete(np.arange(task.facts), 9))
    weights = never_stored(blank, built.model.spec, task, kept, 0, built.provenance["sample"], 4, SILENT)
    assert all(torch.equal(weights[name], told.model.weights[name]) for name in weights)


def test_forgetting_after_other_edits_keeps_them(task, built):
    edited = rote.edit(built, {task[0].key: other_answer(task, 0)})
    forgotten = rote.edit(edited, [("forget", task[1].key)])
    assert forgotten.model.ask(*task[0].key).answer == other_answer(task, 0)
    assert forgotten.certificate.facts == task.facts - 1
    assert len(forgotten.origin.changes) == 2


def test_a_selector_changes_one_number_or_two_rows():
    built = rote.build(COUNTRIES)
    assert built.provenance["method"] == "rote.selector"
    lyon = rote.edit(built, {("capital", "France"): "Lyon"}, COUNTRIES)
    assert lyon.largest_margin_change == 0
    assert {each.name for each in rote.diff(built, lyon, COUNTRIES).tensors if each.different} == {"unembed"}
    yen = rote.edit(built, {("currency", "France"): "JPY"}, COUNTRIES)
    assert yen.certificate.recalled == 6


def test_a_selector_that_never_stored_a_fact_is_the_one_built_without_it():
    task = rote.facts(COUNTRIES)
    forgotten = rote.edit(rote.build(task), [("forget", ("capital", "Japan"))], task)
    without = rote.build(task.take(np.array([0, 2, 3, 4, 5])))
    assert rote.diff(forgotten, without, task).same_weights
    with pytest.raises(InputError, match="always prefers some answer"):
        rote.edit(rote.build(task), [("forget", ("capital", "Japan"))], task, forget_as="erased")


def edits_of(method):
    """Which edits of six facts a method has: set, add, never stored and erased."""
    found = {}
    for name, changes, how in (
        ("set", [("set", ("capital", "France"), "Lyon")], "never-stored"),
        ("add", [("add", ("currency", "Peru"), "EUR")], "never-stored"),
        ("never stored", [("forget", ("capital", "Japan"))], "never-stored"),
        ("erased", [("forget", ("capital", "Japan"))], "erased"),
    ):
        facts = {key: answer for key, answer in COUNTRIES.items() if name != "add" or key != ("currency", "Peru")}
        built = rote.build(facts, method)
        try:
            edited = rote.edit(built, changes, facts, forget_as=how)
        except InputError as error:
            reasoned = re.search("always prefers some answer|are not edited: .*rote build TABLE", str(error))
            found[name] = "-" if reasoned else str(error)
            continue
        assert edited.certificate.recalled == edited.certificate.facts == {"set": 6, "add": 6}.get(name, 5)
        if name == "set":
            assert edited.model.ask("capital", "France").answer == "Lyon"
        otherwise = rote.diff(built, edited, COUNTRIES).answered_otherwise
        assert name != "set" or len(otherwise) == 1
        found[name] = "yes"
    return list(found.values())


TABLE = re.findall(
    r"^\| `([a-z0-9_.]+)` \| (yes|-) \| (yes|-) \| (yes|-) \| (yes|-) \|",
    (Path(__file__).parents[2] / "docs" / "editing.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_the_documented_table_has_every_method():
    stored = [each.id for each in CONSTRUCTIONS.values() if AssociationTask in each.tasks]
    assert sorted(row[0] for row in TABLE) == sorted(stored)


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_every_method_has_the_edits_that_are_documented(row):
    assert edits_of(row[0]) == list(row[1:])


@pytest.fixture(scope="module")
def neurons(task):
    return rote.build(task, "madden2025", spare=150)


def test_an_answer_in_an_mlp_changes_by_rank_one_and_no_other_margin_moves(task, neurons):
    edited = rote.edit(neurons, {task[3].key: other_answer(task, 3)})
    assert edited.largest_margin_change < 1e-4 * neurons.certificate.min_margin
    changed = [each for each in rote.diff(neurons, edited).tensors if each.different]
    assert [(each.name, each.rank) for each in changed] == [("layers.0.mlp_out", 1)]


def test_an_mlp_that_never_stored_a_fact_has_no_trace_of_its_answer(task, neurons):
    answers = task.answers.copy()
    answers[5] = task.vocabulary.index[other_answer(task, 5)]
    another = replace(task, answers=answers)
    here = rote.edit(neurons, [("forget", task[5].key)])
    there = rote.edit(rote.build(another, "madden2025", spare=150), [("forget", task[5].key)], another)
    assert all(torch.equal(here.model.weights[name], there.model.weights[name]) for name in here.model.weights)
    again = rote.edit(rote.edit(neurons, {task[5].key: other_answer(task, 5)}), [("forget", task[5].key)])
    assert all(torch.equal(here.model.weights[name], again.model.weights[name]) for name in here.model.weights)
    erased = rote.edit(neurons, [("forget", task[5].key)], forget_as="erased")
    assert float(erased.model.logits(task.contexts[5:6]).abs().max()) < 1e-3 * neurons.certificate.min_margin


def test_an_mlp_gets_neurons_where_there_are_more_facts(task):
    built = rote.build(task, "madden2025")
    stored = {task[row].key for row in range(task.facts)}
    keys = [(str(a), str(b)) for a in range(20) for b in range(20) if (str(a), str(b)) not in stored][:5]
    edited = rote.edit(built, [("add", key, "something new") for key in keys])
    assert edited.certificate.measured["neurons_added"] == 5
    assert edited.certificate.recalled == task.facts + 5
    assert edited.model.ask(*keys[4]).answer == "something new"


def test_a_folder_remembers_its_changes(tmp_path, task, built):
    built.save(tmp_path / "one")
    first = rote.edit(tmp_path / "one", {task[0].key: other_answer(task, 0)})
    first.save(tmp_path / "two")
    second = rote.edit(tmp_path / "two", [("forget", task[1].key)], forget_as="erased")
    second.save(tmp_path / "three")
    folder = rote.load(tmp_path / "three")
    assert [change.answer for change in folder.origin.changes] == [other_answer(task, 0), None]
    from rote.folders.named_facts import facts_of_folder

    assert rote.verify(folder, facts_of_folder(folder.origin, folder.path)).holds


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({("capital", "Frances"): "Lyon"}, "'Frances' is no token of the model's keys .did you mean 'France'"),
        ([("set", ("capital", "EUR"), "Lyon")], "is not stored; add it instead"),
        ([("forget", ("capital", "EUR"))], "is not stored"),
        ([("add", ("capital", "Peru"), "Lyon")], "is stored already; set it instead"),
        ([("set", ("capital", "Peru"), "A"), ("set", ("capital", "Peru"), "B")], "contradicts another change"),
        ({("capital", "Peru"): "Lima"}, "nothing is to be edited"),
        ({("capital",): "Lima"}, "1 parts, and a key of this model has 2"),
        ([("drop", ("capital", "Peru"))], "give .'set', key, answer."),
        ({("capital", "Peru"): [True]}, "not text, a number, a date or a time"),
    ],
)
def test_changes_that_do_not_fit_are_one_message(changes, message):
    with pytest.raises(InputError, match=message):
        rote.edit(rote.build(COUNTRIES), changes, COUNTRIES)


@pytest.mark.parametrize("method", ["rote.readout", "rote.fixed_gates"])
def test_fitted_models_are_fitted_again(task, method):
    built = rote.build(task, method)
    answer = next(fact.answer for fact in map(task.__getitem__, range(task.facts)) if fact.answer != task[0].answer)
    edited = rote.edit(built, [("set", task[0].key, answer), ("forget", task[1].key)])
    assert edited.certificate.recalled == edited.certificate.facts == task.facts - 1
    assert edited.model.ask(*task[0].key).answer == answer
    assert edited.certificate.measured["edit"] == "built again"
    with pytest.raises(InputError, match="leave it out to forget as never stored"):
        rote.edit(built, [("forget", task[1].key)], forget_as="erased")


def test_models_without_an_exact_edit_say_why(tmp_path, task):
    spec = rote.AttentionOnly(vocab=20, context=2, dim=4, head_dim=4, heads=2)
    trained = rote.train_best(task, spec, seeds=1, steps=5)
    trained.save(tmp_path / "trained")
    with pytest.raises(InputError, match="trained, so that every weight depends on every fact"):
        rote.edit(tmp_path / "trained", {task[0].key: "1"})


def test_a_table_of_changes(tmp_path):
    built = rote.build(COUNTRIES)
    table = tmp_path / "changes.csv"
    table.write_text("change,key 1,key 2,answer\nset,capital,France,Lyon\nforget,capital,Japan,\n")
    edited = rote.edit(built, table, COUNTRIES)
    assert edited.counts == {"changed": 1, "added": 0, "forgotten": 1}
    table.write_text("change,key 1,key 2,answer\ndrop,capital,France,Lyon\n")
    with pytest.raises(InputError, match="line 2: `change` is 'drop'; it is one of set, add, forget"):
        rote.edit(built, table, COUNTRIES)
    with pytest.raises(InputError, match="there is no such table of changes"):
        rote.edit(built, tmp_path / "none.csv", COUNTRIES)


@pytest.mark.parametrize(
    "provenance",
    [
        {"sample": {"solve": "dense", "redraws": 0, "heads": 10**9, "code": 0}},
        {"sample": {"solve": "dense", "redraws": 0, "heads": 4, "code": 99}},
        {"sample": {"solve": "arrowhead", "redraws": 0, "heads": 4, "code": 0, "group_heads": [1, 1]}},
        {"sample": [1]},
        {"seed": "x"},
        {"given": 3},
        {"given": {"dim": "wide"}},
        {"options": {"right_hand_sides": -1}},
    ],
)
def test_what_a_stranger_wrote_of_a_build_is_one_message(task, built, provenance):
    with pytest.raises(InputError):
        rote.edit(replace(built, provenance={**built.provenance, **provenance}), [("forget", task[0].key)])


def test_an_edit_after_another_is_that_of_the_saved_model(tmp_path, task, built):
    """What an edit keeps for the next one changes no bit of it, and the certificate is that of a fresh run."""
    first = rote.edit(built, {task[0].key: other_answer(task, 0)})
    first.save(tmp_path / "first")
    second = rote.edit(first, {task[1].key: other_answer(task, 1)})
    again = rote.edit(tmp_path / "first", {task[1].key: other_answer(task, 1)})
    assert all(torch.equal(tensor, again.model.weights[name]) for name, tensor in second.model.weights.items())
    assert second.certificate == again.certificate
    assert second.kept["attention"] is not None
    second.save(tmp_path / "second")
    assert rote.verify(tmp_path / "second", second.kept["facts"]).holds
    seen = rote.recall(second.model, second.kept["facts"])
    assert np.array_equal(seen.margins, second.kept["margins"])


def test_facts_in_another_order_do_not_meet_what_an_edit_kept(task, built):
    first = rote.edit(built, {task[0].key: other_answer(task, 0)})
    shuffled = task.take(np.random.default_rng(0).permutation(task.facts))
    plain = rote.edit(first, {task[1].key: other_answer(task, 1)})
    second = rote.edit(first, {task[1].key: other_answer(task, 1)}, shuffled)
    assert second.certificate.recalled == task.facts
    assert second.largest_margin_change == pytest.approx(plain.largest_margin_change, rel=0.5)


def test_the_facts_that_are_run_in_float64_are_counted(task, built, monkeypatch):
    changes = {task[row].key: other_answer(task, row) for row in range(5)}
    assert "rounding_facts" not in rote.edit(built, changes).certificate.measured
    monkeypatch.setattr(sys.modules["rote.editing.edit"], "COMPARED", 40)
    edited = rote.edit(built, changes)
    assert 40 <= edited.certificate.measured["rounding_facts"] + 5 <= 50
    exact = rote.recall(edited.model.to("float64"), edited.kept["facts"]).margins
    moved = np.abs(exact - edited.kept["margins"]).max() / edited.certificate.min_margin
    assert 0 < edited.certificate.margin_rounding <= moved * (1 + 1e-9)
