"""`rote edit` and `rote diff`."""

from __future__ import annotations

import json

import pytest

TABLE = "relation,country,value\ncapital,France,Paris\ncapital,Japan,Tokyo\ncapital,Peru,Lima\ncurrency,France,EUR\n"


@pytest.fixture
def model(rote, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "facts.csv").write_text(TABLE)
    assert rote("build", "facts.csv", "-o", "model").code == 0
    return tmp_path


def test_set_forget_ask_diff_and_verify(rote, model):
    edited = rote("edit", "model", "--set", "capital France=Lyon", "--forget", "capital Japan", "-o", "two", "--json")
    assert edited.code == 0
    stated = json.loads(edited.out)
    assert (stated["changed"], stated["forgotten"], stated["recalled"], stated["facts"]) == (1, 1, 3, 3)
    assert "Lyon" in rote("ask", "two", "capital", "France").out
    assert "unknown" in rote("ask", "two", "capital", "Japan").out
    assert rote("verify", "two").code == 0
    shown = rote("diff", "model", "two")
    assert shown.code == 0
    assert "Paris" in shown.out
    assert "Lyon" in shown.out


def test_a_table_of_changes_and_its_summary(rote, model):
    (model / "changes.csv").write_text("country,relation,value,change\nPeru,capital,Cusco,set\nPeru,currency,PEN,add\n")
    done = rote("edit", "model", "changes.csv", "-o", "two")
    assert done.code == 0
    assert "1, 1, 0" in done.out
    assert "PEN" in rote("ask", "two", "currency", "Peru").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "there is nothing to change"),
        (["--set", "capital France"], "give the key, an equals sign and the answer"),
        (["--set", "capital Franec=Lyon"], "did you mean 'France'"),
        (["--add", "capital France=Lyon"], "is stored already"),
        (["--forget", "currency Peru"], "is not stored"),
        (["--set", "capital Peru=A", "--set", "capital Peru=B"], "contradicts another change"),
        (["--forget", "capital France", "--forget-as", "erased"], "--forget-as erased"),
        (["none.csv"], "there is no such table of changes"),
        (["--set", "capital France=Lyon", "--facts", "none.csv"], "none.csv"),
    ],
)
def test_bad_changes_are_one_message_and_write_nothing(rote, model, words, message):
    before = sorted(path.name for path in model.iterdir())
    done = rote("edit", "model", *words, "-o", "two")
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert sorted(path.name for path in model.iterdir()) == before
