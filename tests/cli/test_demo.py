"""`rote demo`: the whole story, and an honest exit code."""

from __future__ import annotations


def test_demo_tells_the_whole_story(rote, tmp_path):
    outcome = rote("demo")
    assert outcome.code == 0, outcome.err
    assert "100% recall" in outcome.out
    assert "certificate verified" in outcome.out
    assert (tmp_path / "demo" / "guarantees.png").stat().st_size > 10_000
    assert rote("verify", "demo/model", "countries").code == 0


def test_demo_as_json(rote):
    document = rote("demo", "random:vocab=20,context=2,facts=100,seed=3", "--json").json
    assert document["recall"] == document["ceiling"] == 1.0
    assert document["verified"]
    assert document["altered_table_refused"]


def test_demo_on_a_distribution_is_refused(rote):
    outcome = rote("demo", "random:vocab=10,context=2,entropy=1.5")
    assert outcome.code == 2
    assert "associations" in outcome.err
