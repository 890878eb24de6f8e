"""`rote lm recall`, and what `rote recall` says to a language model."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="language models need the package transformers")
sys.path.insert(0, str(Path(__file__).parents[1] / "lm"))

TABLE = "country,capital\nFrance,Paris\nItaly,Rome\nPeru,Lima\n"


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    from tiny import save_gpt2

    return save_gpt2(tmp_path_factory.mktemp("models") / "gpt2")


def test_a_language_model_is_asked_by_template(rote, gpt2, tmp_path):
    (tmp_path / "capitals.csv").write_text(TABLE)
    asked = ("lm", "recall", gpt2, "capitals.csv", "--template", "The capital of {country} is")
    document = rote(*asked, "--json", "--replies", "replies.csv").json
    (relation,) = document["relations"]
    assert relation["templates"][0]["facts"] == 3
    assert document["parameters"] > document["embedding_parameters"] > 0
    with (tmp_path / "replies.csv").open() as file:
        written = list(csv.DictReader(file))
    assert [row["answer"] for row in written] == ["Paris", "Rome", "Lima"]
    table = rote(*asked, "--template", "what is the capital of {country}")
    for shown in ("first token", "over templates", "tied ones once", "ceiling"):
        assert shown in table.out


def test_each_kind_of_model_is_sent_to_its_command(rote, gpt2, tmp_path):
    (tmp_path / "capitals.csv").write_text(TABLE)
    assert rote("build", "capitals.csv", "-o", "model", "--keys", "letters").code == 0
    assert rote("recall", "model", "capitals.csv", "--json").json["recalled"] == 3
    refused = rote("lm", "recall", "model", "capitals.csv", "--template", "The capital of {country} is")
    assert refused.code == 2
    assert "use `rote recall model`" in refused.err
    refused = rote("recall", gpt2, "capitals.csv")
    assert refused.code == 2
    assert f"use `rote lm recall {gpt2} FACTS`" in refused.err


@pytest.mark.parametrize("template", ["{country}", "The capital of {country} is"])
def test_an_export_of_rote_is_sent_to_verify(rote, tmp_path, template):
    (tmp_path / "capitals.csv").write_text(TABLE)
    assert rote("build", "capitals.csv", "-o", "model", "--keys", "letters").code == 0
    assert rote("export", "model", "--to", "llama", "-o", "llama").code == 0
    refused = rote("lm", "recall", "llama", "capitals.csv", "--template", template, "--replies", "replies.csv")
    assert refused.code == 2
    assert "is an export of rote" in refused.err
    assert "rote verify" in refused.err
    assert not (tmp_path / "replies.csv").exists()
    assert rote("verify", "llama").code == 0


def test_what_cannot_be_asked_is_one_message_and_writes_nothing(rote, gpt2, tmp_path):
    (tmp_path / "capitals.csv").write_text(TABLE)
    before = sorted(tmp_path.iterdir())
    refused = rote("lm", "recall", gpt2, "capitals.csv", "--template", "{nation}", "--replies", "replies.csv")
    assert refused.code == 2
    assert "no key column 'nation'" in refused.err
    assert rote("lm", "recall", gpt2, "capitals.csv", "--replies", "replies.txt").code == 2
    assert rote("lm", "recall", gpt2, "random:vocab=5,context=2", "--template", "{a}").code == 2
    assert rote("lm", "recall", "no-such-folder", "capitals.csv").code == 2
    assert sorted(tmp_path.iterdir()) == before


def test_inspect_takes_a_language_model(rote, gpt2, tmp_path):
    (tmp_path / "capitals.csv").write_text(TABLE)
    common = ("inspect", gpt2, "--facts", "capitals.csv", "--template", "The capital of {country} is")
    one = rote(*common, "--json", "Peru")
    (fact,) = one.json["facts"]
    assert (fact["key"], fact["answer"]) == (["Peru"], "Lima")
    assert one.code == (0 if fact["recalled"] else 1)
    table = rote(*common, "--csv", "effects.csv", "--figure", "maps.png", "--effect", "zero")
    assert len((tmp_path / "effects.csv").read_text().splitlines()) == 1 + 3 * 3
    assert {path.name for path in tmp_path.glob("maps*.png")} == {
        "maps-direct.png",
        "maps-sources.png",
        "maps-zero.png",
    }
    assert "of 3 facts" in table.out
    assert "An effect is not storage" in table.out
    for wrong, message in (
        (("inspect", gpt2, "Peru"), "names the table to ask it for"),
        ((*common, "--off", "0.1"), "is for rote's own models"),
        ((*common, "Atlantis"), "no such key"),
    ):
        refused = rote(*wrong)
        assert refused.code == 2
        assert message in refused.err
