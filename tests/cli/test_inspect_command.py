"""`rote inspect`: where a fact is, in words and as JSON."""

from __future__ import annotations

import pytest


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
