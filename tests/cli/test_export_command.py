"""`rote export`, and `rote verify` on what it wrote."""

from __future__ import annotations

import json

import pytest

FACTS = "random:vocab=12,context=2,facts=30,seed=1"


@pytest.fixture
def model(rote):
    assert rote("build", FACTS, "-o", "model").code == 0
    return "model"


def test_an_exported_folder_verifies_until_it_is_changed(rote, model, tmp_path):
    done = rote("export", model, "--to", "torch", "-o", "there", "--json")
    assert done.code == 0
    assert done.json["recalled"] == done.json["read"] == 30
    assert rote("verify", "there", FACTS).code == 0
    (tmp_path / "there" / "spec.json").write_text((tmp_path / "there" / "spec.json").read_text() + "\n")
    verified = rote("verify", "there", FACTS)
    assert verified.code == 1
    assert "spec.json" in verified.out


def test_the_table_says_what_was_seen_there(rote, model):
    out = rote("export", model, "--to", "torch", "-o", "there", "--facts", FACTS).out
    assert "30 of 30 facts recalled through torch" in out
    assert "largest margin change" in out


def test_a_sample_is_asked_stated_and_verified(rote, model, tmp_path):
    done = rote("export", model, "--to", "torch", "-o", "there", "--sample", "10", "--json")
    assert [done.json[name] for name in ("facts", "asked", "read", "recalled", "recalled_before")] == [30, *[10] * 4]
    every = rote("export", model, "--to", "torch", "-o", "all", "--sample", "30", "--json").json
    assert every["asked"] is None
    assert done.json["min_margin_float64"] == every["min_margin_float64"]
    verified = rote("verify", "there", FACTS)
    assert (verified.code, "holds for 10 of 30 facts" in verified.out) == (0, True)
    assert max(map(len, verified.out.splitlines()[:-3])) <= 80
    out = rote("export", model, "--to", "torch", "-o", "again", "--sample", "10").out
    assert "10 of 10 facts asked, of 30 stored, recalled through torch" in out
    stated = json.loads((tmp_path / "there" / "certificate.json").read_text())
    for asked in (9, 0):
        (tmp_path / "there" / "certificate.json").write_text(json.dumps({**stated, "asked": asked}))
        assert rote("verify", "there", FACTS).code == (1 if asked else 2)
    refused = rote("export", model, "--to", "torch", "-o", "other", "--sample", "1")
    assert (refused.code, "ask 2 facts or more" in refused.err) == (2, True)


def test_unknown_targets_and_folders_that_exist_are_refused(rote, model):
    refused = rote("export", model, "--to", "lama", "-o", "there")
    assert (refused.code, "did you mean 'llama'" in refused.err) == (2, True)
    assert rote("export", model, "--to", "torch", "-o", "there").code == 0
    again = rote("export", model, "--to", "torch", "-o", "there")
    assert (again.code, "exists and is not empty" in again.err) == (2, True)
    assert rote("export", model, "--to", "torch", "-o", "there", "--force").code == 0


def test_facts_alone_become_a_task(rote):
    pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed")
    facts = "random:vocab=12,context=2,facts=10,seed=1"
    done = rote("export", facts, "--to", "lm-eval", "-o", "task", "--json")
    assert done.code == 0
    assert done.json["read"] == done.json["facts"] == 10
    assert rote("verify", "task", facts).code == 0
    refused = rote("export", facts, "--to", "lm-eval", "-o", "other", "--cache", "float16")
    assert (refused.code, "go with a model folder" in refused.err) == (2, True)
