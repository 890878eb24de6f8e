"""The path of a user: build, recall, verify; and everything that can go wrong on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TABLE = "relation,country,answer\n" + "".join(
    f"{relation},country{place},{relation} of {place % 7}\n"
    for relation in ("capital", "currency")
    for place in range(20)
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "facts.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def built(rote, table):
    outcome = rote("build", table, "-o", "model", "--json")
    assert outcome.code == 0, outcome.err
    return outcome


def test_build_recall_verify(rote, table, built):
    assert (built.json["facts"], built.json["recalled"], built.json["dtype"]) == (40, 40, "float32")
    recalled = rote("recall", "model", table, "--json").json
    assert {"facts", "recalled", "recall", "ceiling", "min_margin", "bits_per_parameter"} <= set(recalled)
    assert (recalled["facts"], recalled["recalled"], recalled["recall"], recalled["ceiling"]) == (40, 40, 1.0, 1.0)
    assert recalled["min_margin"] == pytest.approx(built.json["min_margin"])
    assert recalled["bits_per_parameter"] == pytest.approx(built.json["bits_per_parameter"])
    assert recalled["parameters"] == built.json["parameters"]
    verified = rote("verify", "model", table, "--json")
    assert (verified.code, verified.json["holds"], verified.json["missed"]) == (0, True, 0)


def test_as_a_real_process(rote_process, table):
    assert rote_process("build", table, "-o", "model").code == 0
    shown = rote_process("verify", "model", table)
    assert (shown.code, "verified: every statement" in shown.out) == (0, True)
    refused = rote_process("build", "nowhere.csv", "-o", "other")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("rote: ")
    assert "Traceback" not in refused.err


def test_same_seed_same_model(rote, table, built, tmp_path):
    drawn = ("build", table, "--method", "dana2025.theorem1")
    rote(*drawn, "-o", "model", "--force")
    rote(*drawn, "-o", "again")
    assert (tmp_path / "model/model.safetensors").read_bytes() == (tmp_path / "again/model.safetensors").read_bytes()
    rote(*drawn, "-o", "other", "--seed", 1)
    assert (tmp_path / "model/model.safetensors").read_bytes() != (tmp_path / "other/model.safetensors").read_bytes()


def test_one_changed_answer_fails_and_is_named(rote, table, built):
    table.write_text(TABLE.replace("capital,country3,capital of 3", "capital,country3,capital of 4"))
    outcome = rote("verify", "model", table)
    assert outcome.code == 1
    assert "capital country3 -> capital of 4" in outcome.out
    assert rote("verify", "model", table, "--json").json["missed_facts"] == ["capital country3 -> capital of 4"]


def test_one_flipped_byte_fails_and_is_named(rote, table, built, tmp_path):
    rote("build", table, "-o", "model", "--force", "--method", "dana2025.theorem1")  # whose weights are not packed
    path = tmp_path / "model" / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 0x7F  # the exponent of the last number of the unembedding
    path.write_bytes(bytes(content))
    outcome = rote("verify", "model", table)
    assert outcome.code == 1
    assert "weights_fingerprint" in outcome.out
    assert "facts that fail" in outcome.out


def test_facts_are_read_the_way_the_model_was_built(rote, tmp_path):
    (tmp_path / "codes.csv").write_text(
        "code,zone\n" + "".join(f"{a}{b},zone{ord(a) % 3}\n" for a in "ABCD" for b in "EFGH")
    )
    assert rote("build", "codes.csv", "-o", "model", "--keys", "letters").code == 0
    assert rote("verify", "model", "codes.csv").code == 0


def test_recall_of_unknown_tokens(rote, built, tmp_path):
    (tmp_path / "other.csv").write_text("relation,country,answer\ncapital,Atlantis,wet\n")
    outcome = rote("recall", "model", "other.csv")
    assert outcome.code == 2
    assert "'Atlantis', 'wet'" in outcome.err


def test_contradictions_lower_the_ceiling(rote, tmp_path):
    (tmp_path / "clash.csv").write_text(TABLE + "capital,country3,somewhere else\n")
    refused = rote("build", "clash.csv", "-o", "model")
    assert refused.code == 2
    assert "capital country3" in refused.err
    assert "weight" in refused.err
    assert not (tmp_path / "model").exists()
    kept = rote("build", "clash.csv", "-o", "model", "--contradictions", "keep", "--json")
    assert (kept.code, kept.json["recalled"], kept.json["facts"]) == (0, 40, 41)
    recalled = rote("recall", "model", "clash.csv", "--json").json
    assert recalled["recall"] == recalled["ceiling"] == pytest.approx(40 / 41)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "facts.csv"], "--output"),
        (["build", "facts.csv", "-o", "model", "--method", "magic"], "--method magic: there is no such method"),
        (["build", "facts.csv", "-o", "model", "--set", "score_std"], "expected name=value"),
        (["build", "facts.csv", "-o", "model", "--set", "nonsense=1"], "nonsense"),
        (["build", "facts.csv", "-o", "model", "--dtype", "int5"], "int5"),
        (["build", "facts.csv", "-o", "model", "--dim", "4", "--head-dim", "5"], "--head-dim 5 exceeds --dim 4"),
        (["build", "facts.csv", "-o", "model", "--dim", "4", "--head-dim", "4", "--heads", "2"], "40"),
        (["build", "facts.csv", "-o", "facts.csv"], "is a file"),
        (["build", "facts.csv", "-o", "model", "--answer", "zone"], "zone"),
        (
            ["build", "one.csv", "-o", "model", "--keys", "words", "--method", "dana2025.theorem1"],
            "one token leaves attention nothing to do",
        ),
        (["recall", "nowhere", "facts.csv"], "no such model folder"),
        (["verify", "facts.csv", "facts.csv"], "is a file"),
        (["build", "random:vocab=50,contxt=2", "-o", "model"], "contxt"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_bad_input_is_one_message_and_writes_nothing(rote, table, tmp_path, arguments, message):
    (tmp_path / "one.csv").write_text("word,answer\na,b\nc,d\n")
    before = sorted(tmp_path.rglob("*"))
    outcome = rote(*arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    assert sorted(tmp_path.rglob("*")) == before


def test_existing_model_is_not_replaced_by_accident(rote, table, built):
    assert rote("build", table, "-o", "model").code == 2
    assert rote("build", table, "-o", "model", "--force").code == 0


def test_json_is_strict(rote, table, built, tmp_path):
    path = tmp_path / "model" / "certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "min_margin": float("inf")}))
    outcome = rote("verify", "model", table, "--json")
    assert outcome.code == 1
    assert "Infinity" not in outcome.out


def test_keys_of_one_token_are_built_and_what_was_left_is_said(rote, tmp_path):
    (tmp_path / "one.csv").write_text("word,answer\na,b\nc,d\n")
    outcome = rote("build", "one.csv", "-o", "model", "--keys", "words")
    assert outcome.code == 0
    said = " ".join(outcome.out.split())
    assert "left dana2025.corollary1, dana2025.theorem1, rote.readout: " in said
    assert said.count("use keys of two or more tokens") == 1


def test_a_fallback_names_the_flag_that_allows_a_transformer(rote):
    outcome = rote("build", "random:vocab=200,context=2,facts=20001,seed=1", "-o", "model", "--within", "1s")
    said = " ".join(outcome.out.split())
    assert "every command takes dana2025.theorem1" in said
    assert "--within 60 allows it left rote.selector: " in said


def test_the_command_of_a_plan_builds_what_it_says(rote, tmp_path):
    import json
    import shlex

    (tmp_path / "one.csv").write_text("word,answer\na,b\nc,d\ne,b\n")
    rows = json.loads(rote("plan", "one.csv", "--keys", "words", "--json").out)
    row = next(row for row in rows if row["id"] == "kajitsuka2025.embedding_table")
    assert "--keys words" in row["command"]
    built = json.loads(rote(*shlex.split(row["command"])[1:], "--json").out)
    assert (built["parameters"], built["bytes"]) == (row["parameters"], row["weights"])
    assert built["folder_bytes"] == row["bytes"] == sum(file.stat().st_size for file in Path("model").iterdir())


def test_weights_are_packed_once(rote, monkeypatch):
    from rote.folders import folder

    calls, packed = [], folder.packed
    monkeypatch.setattr(folder, "packed", lambda weights: calls.append(weights) or packed(weights))
    facts = "random:vocab=6,context=2,facts=20,seed=1"
    outcome = rote("build", facts, "-o", "model", "--method", "kajitsuka2025.theorem4_1", "--json")
    assert len(calls) == 1
    assert outcome.json["bytes"] == folder.weights_bytes(folder.read_folder("model").model)


def test_what_build_prints_as_json_a_library_call_gives(rote, tmp_path):
    from rote.constructions.build import build

    source = "random:vocab=6,context=2,facts=9,seed=1"
    printed = rote("build", source, "-o", tmp_path / "model", "--json").json
    built = build(source)
    given = built.summary(built.save(tmp_path / "again"))
    assert list(printed) == list(given)
    passing = {"folder", "folder_bytes", "seconds", "budget_used", "measured"}  # what was measured has times among it
    assert {name: printed[name] for name in printed if name not in passing} == {
        name: given[name] for name in given if name not in passing
    }
    assert list(printed["measured"]) == list(given["measured"])
    assert given["bytes"] == built.summary()["bytes"]
    assert built.seconds > 0
