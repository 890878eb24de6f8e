"""`rote inspect`: where a fact is, in words and as JSON."""

from __future__ import annotations

import pytest

from rote.folders import load


@pytest.fixture
def model(rote, tmp_path):
    rows = [
        f"{kind},{thing},{kind[0]}{number % 5}\n"
        for kind in ("colour", "size", "price")
        for number, thing in enumerate("abcdefgh")
    ]
    (tmp_path / "facts.csv").write_text("kind,thing,answer\n" + "".join(rows))
    assert rote("build", "facts.csv", "-o", "model", "--method", "dana2025.theorem1").code == 0
    return "model"


def test_parts_sum_and_heads_off_lose_what_is_said(rote, model):
    document = rote("inspect", model, "colour", "c", "--json").json
    assert (document["answer"], document["said"], document["known"]) == ("c2", "c2", True)
    total = sum(part["to_answer"] for part in document["contributions"])
    assert total + document["rounding"] == pytest.approx(document["answer_logit"])
    table = rote("inspect", model, "--json").json
    assert table["recalled"] == table["facts"] == 24
    head = max(table["heads"], key=lambda head: head["loses"])
    off = rote("inspect", model, "--off", f"{head['layer']}.{head['head']}", "--json").json
    assert len(off["facts_lost"]) == head["loses"] > 0
    assert off["recalled"] == 24 - head["loses"]


def test_tables_name_the_answer_the_nearest_and_the_heads(rote, model):
    shown = rote("inspect", model, "colour", "c").out
    for text in ("c2", "runner-up", "direct path", "head 0.0", "attends to", "sum"):
        assert text in shown
    assert "ablation impact by head" in rote("inspect", model).out
    off = rote("inspect", model, "colour", "c", "--off", "0.0", "0.1")
    assert "ablated" in off.out
    assert "when these heads are ablated" in off.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("colour", "nothing"), "was never stored"),
        (("colour", "c", "--off", "0.99"), "this model has layers 0 to 0"),
        (("colour", "c", "--off", "x"), "a head is LAYER.HEAD"),
    ],
)
def test_bad_input_is_one_message(rote, model, words, message):
    outcome = rote("inspect", model, *words)
    assert outcome.code == 2
    assert message in outcome.err


def test_a_memory_layer_shows_slots_and_the_facts_that_share_them(rote, tmp_path):
    folder = tmp_path / "memory"
    source = "random:vocab=30,context=2,facts=200,seed=1"
    assert rote("build", source, "--method", "rote.memory_layer", "-o", folder).code == 0
    words = next(("0", str(b)) for b in range(30) if load(folder).model.ask("0", str(b)).known)
    shown = rote("inspect", folder, *words).out
    for text in ("bias", "head 0.0", "reads", "slot ", "other facts that read each slot", "no attention patterns"):
        assert text in shown
    document = rote("inspect", folder, *words, "--json").json
    heads = [part for part in document["contributions"] if part["part"] == "head"]
    assert [part["slot"]["slot"] for part in heads] == [slot["slot"] for slot in document["shared_slots"]]
    assert all(set(slot["lost"]) <= set(slot["read_by"]) for slot in document["shared_slots"])
    assert "the bias and the MLP add" in rote("inspect", folder).out
    refused = rote("inspect", folder, "--effect", "mean")
    assert refused.code == 2
    assert "attends to no token" in " ".join(refused.err.split())
