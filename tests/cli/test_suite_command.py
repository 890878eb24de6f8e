"""`rote suite`."""

from __future__ import annotations

FACTS = "random:vocab=12,context=2,facts=40,seed=1"


def test_a_suite_is_written_once_and_replaced_when_asked(rote):
    asked = ("suite", FACTS, "-o", "suite", "--loads", "0.5,1,2", "--shapes", "8x4")
    done = rote(*asked, "--json")
    assert done.code == 0
    assert [model["load"] for model in done.json["models"]] == [0.5, 1.0, 0.5, 1.0, 2.0]
    again = rote(*asked)
    assert (again.code, "exists and is not empty" in again.err) == (2, True)
    assert "5 models of 40 facts" in rote(*asked, "--force").out


def test_words_that_are_no_loads_or_shapes_are_refused(rote):
    refused = rote("suite", FACTS, "-o", "suite", "--loads", "much")
    assert (refused.code, "--loads" in refused.err) == (2, True)
    refused = rote("suite", FACTS, "-o", "suite", "--shapes", "8")
    assert (refused.code, "--shapes" in refused.err) == (2, True)
