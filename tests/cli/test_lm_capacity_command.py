"""`rote lm capacity` as a user runs it."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers", reason="language models need the package transformers")

SMALL = (
    "lm", "capacity", "llama", "--dim", 8, "--vocab", 8, "--load", 0.2, "--load", 0.4, "--steps", 40, "--workers", 1
)  # fmt: skip


def test_a_reading_is_printed_drawn_and_resumed(rote):
    first = rote(*SMALL, "--json")
    assert first.code == 0, first.err
    document = first.json
    assert document["trained_now"] >= 4 + 2 + 3
    assert document["parameters"] - document["embedding_parameters"] > 0
    assert document["bits_per_parameter"] == max(
        sum(point["held"] for point in document["points"] if point["strings"] == size)
        / 2 / document["parameters"]
        for size in {point["strings"] for point in document["points"]}
    )  # fmt: skip
    again = rote(*SMALL, "--json").json
    assert again == {**document, "trained_now": 0}
    table = rote(*SMALL, "--figure", "held.png")
    for shown in ("bits per parameter", "without embeddings", "tied ones once", "at 8x the steps", "held.png"):
        assert shown in table.out


def test_bad_input_is_named_and_nothing_is_written(rote, tmp_path):
    refused = rote("lm", "capacity", "llama", "--load", -1, "--steps", 1, "--seeds", 0)
    assert refused.code == 2
    assert "3 problems" in refused.err
    assert "must end in" in rote("lm", "capacity", "llama", "--figure", "k.gif").err
    assert rote("lm", "capacity", "nothing").code == 2
    assert "do not divide" in rote("lm", "capacity", "gpt2", "--dim", 9).err
    assert not list(tmp_path.iterdir())
