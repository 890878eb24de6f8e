"""`rote capacity --densest` as a user runs it."""

from __future__ import annotations

SMALL = (
    "capacity",
    "--densest",
    300,
    "--vocab",
    9,
    "--dim",
    4,
    "--rounds",
    20,
    "--rounds",
    40,
    "--seeds",
    1,
    "--workers",
    1,
)


def test_a_search_prints_its_winner_and_resumes(rote):
    first = rote(*SMALL, "--json")
    assert first.code == 0, first.err
    document = first.json
    assert document["trained_now"] == sum(len(one) for one in document["rounds"])
    assert document["best"]["bits_per_parameter_code"] == max(
        shape["bits_per_parameter_code"] for shape in document["rounds"][-1]
    )
    assert document["square"]["head_dim"] == document["square"]["dim"] == 4
    assert document["best"]["bits_per_parameter"] == document["best"]["bits_per_parameter_code"]
    assert document["figures"] == []
    again = rote(*SMALL, "--json").json
    assert again == {**document, "trained_now": 0}
    table = rote(*SMALL, "--figure", "k.png")
    assert table.code == 0, table.err
    for shown in ("the densest of 4 shapes of at most 300 parameters", "best k = d", "0 models trained now", "k.png"):
        assert shown in table.out


def test_bad_input_is_named(rote):
    assert "must end in .png or .svg" in rote(*SMALL, "--figure", "k.gif").err
    refused = rote("capacity", "--densest", 50, "--vocab", 40)
    assert refused.code == 2
    assert "too few for any shape" in refused.err
