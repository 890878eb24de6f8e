"""Facts added by gated heads: the logits of every old fact are the same bit for bit."""

from __future__ import annotations

import pytest
import torch

import rote
from rote.errors import InputError
from rote.tasks.changes import changed

SOLVED = "dana2025.theorem1"


def unused_keys(task, count):
    words, have = task.vocabulary.tokens, {tuple(key) for key in task.contexts.tolist()}
    firsts, lasts = sorted(set(task.contexts[:, 0].tolist())), sorted(set(task.contexts[:, -1].tolist()))
    middle = tuple(task.contexts[0, 1:-1].tolist())
    keys = [(a, *middle, b) for a in firsts for b in lasts if (a, *middle, b) not in have]
    return [tuple(words[token] for token in key) for key in keys[:: max(1, len(keys) // count)][:count]]


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("random:vocab=20,context=2,facts=150,seed=1", {"spare": 0}),
        ("random:vocab=20,context=2,facts=150,seed=1", {}),
        ("countries", {"spare": 0}),
    ],
)
def test_every_old_fact_keeps_every_bit(source, options):
    task = rote.facts(source)
    built = rote.build(task, SOLVED, **options)
    keys = unused_keys(task, 5)
    answers = [task[row].answer for row in range(5)]
    edited = rote.edit(built, [("add", key, answer) for key, answer in zip(keys, answers, strict=True)], keep_bits=True)
    assert edited.certificate.recalled == edited.certificate.facts == task.facts + 5
    assert [edited.model.ask(*key).answer for key in keys] == answers
    assert edited.largest_margin_change == 0
    assert torch.equal(built.model.logits(task.contexts), edited.model.logits(task.contexts))
    assert edited.certificate.measured["heads_added"] == 5


def test_appended_facts_are_edited_and_forgotten_later(tmp_path):
    task = rote.facts("random:vocab=20,context=2,facts=150,seed=1")
    built = rote.build(task, SOLVED, spare=5)
    first, second = unused_keys(task, 2)
    appended = rote.edit(built, [("add", first, "3")], keep_bits=True)
    again = rote.edit(appended, [("add", second, "4")], keep_bits=True)
    again.save(tmp_path / "model")
    assert rote.verify(tmp_path / "model", changed(task, again.origin.changes)).holds
    other = rote.edit(tmp_path / "model", {first: "5"})
    assert other.model.ask(*first).answer == "5"
    forgotten = rote.edit(other, [("forget", first)])
    never = rote.edit(built, [("add", second, "4")])
    assert forgotten.certificate.recalled == forgotten.certificate.facts == task.facts + 1
    assert forgotten.model.spec.dim == never.model.spec.dim
    assert not forgotten.model.ask(*first).known


@pytest.mark.parametrize(
    ("method", "changes", "message"),
    [
        (SOLVED, [("set", ("0", "1"), "2")], "can only be added"),
        (SOLVED, [("add", ("unheard", "1"), "2")], "no token of the model's keys"),
        (SOLVED, "new answer", "no stored fact has the answer"),
        ("madden2025", "add", "have no heads to add"),
    ],
)
def test_what_cannot_keep_bits_is_one_message(method, changes, message):
    task = rote.facts("random:vocab=8,context=2,facts=20,seed=1")
    built = rote.build(task, method)
    if changes == "new answer":
        changes = [("add", unused_keys(task, 1)[0], "unheard of")]
    elif changes == "add":
        changes = [("add", unused_keys(task, 1)[0], task[0].answer)]
    elif changes[0][0] == "set":
        changes = [("set", task[0].key, next(a for a in map(str, range(8)) if a != task[0].answer))]
    with pytest.raises(InputError, match=message):
        rote.edit(built, changes, keep_bits=True)


def test_keys_that_no_gate_tells_apart_are_one_message():
    task = rote.facts("random:vocab=30,context=2,facts=60,seed=1")
    built = rote.build(task, SOLVED, dim=2, head_dim=2)
    with pytest.raises(InputError, match="larger `dim`"):
        rote.edit(built, [("add", key, task[0].answer) for key in unused_keys(task, 20)], keep_bits=True)
