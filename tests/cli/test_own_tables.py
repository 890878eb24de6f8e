"""From one's own table to an answer: `rote build TABLE -o m` without another flag, then `rote ask`."""

import json
import re

import pytest

from tables_of_ones_own import TABLES


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_table_is_built_and_asked_without_a_flag(rote, tmp_path, name):
    table = TABLES[name]()
    path = tmp_path / table.file
    path.write_bytes(table.content)
    built = rote("build", path, "-o", tmp_path / "m", "--json")
    assert built.code == 0, built.err
    assert (built.json["recalled"], built.json["facts"]) == (table.facts, table.facts)
    for words, answer in table.questions:
        asked = rote("ask", tmp_path / "m", *words, "--json")
        assert (asked.code, asked.json["answer"], asked.json["known"]) == (0, answer, True), words


def test_keys_from_standard_input_are_answered_a_line_each(rote, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("fruit,colour\napple,red\nplum,blue\ncherry,red\n")
    assert rote("build", path, "-o", tmp_path / "m").code == 0
    told = rote("ask", tmp_path / "m", "-", stdin="plum\napple\nquince\n")
    lines = told.out.splitlines()
    assert lines[0] == "fruit,answer,margin,known"
    assert [line.split(",")[1] for line in lines[1:]] == ["blue", "red", ""]
    assert [line.split(",")[-1] for line in lines[1:]] == ["yes", "yes", "no"]
    rows = [json.loads(line) for line in rote("ask", tmp_path / "m", "-", "--json", stdin="plum\n").out.splitlines()]
    assert rows[0]["answer"] == "blue"


def test_a_key_that_was_never_stored_is_unknown(rote, tmp_path):
    assert rote("build", "countries", "-o", tmp_path / "m").code == 0
    assert rote("ask", tmp_path / "m", "capital", "France").out.startswith("Paris")
    unknown = rote("ask", tmp_path / "m", "capital", "Atlantis")
    assert unknown.code == 1
    assert unknown.out == "unknown: capital Atlantis was never stored in this model\n"
    other_case = rote("ask", tmp_path / "m", "Capital", "france")
    assert other_case.code == 1
    assert "did you mean: capital France\n" in other_case.out
    too_few = rote("ask", tmp_path / "m", "capital")
    assert too_few.code == 2
    assert "2 parts (relation, country)" in too_few.err
    # Facts that are not named are those the folder was made from.
    assert rote("verify", tmp_path / "m").code == 0
    assert rote("recall", tmp_path / "m", "--expect", "all").code == 0


def test_recall_says_what_the_model_answered_instead(rote, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("fruit,colour\napple,red\nplum,blue\ncherry,red\n")
    assert rote("build", path, "-o", tmp_path / "m").code == 0
    path.write_text("fruit,colour\napple,red\nplum,red\ncherry,red\n")
    told = rote("recall", tmp_path / "m", path, "--expect", "all", "--json")
    assert told.code == 1
    assert told.json["missed_examples"] == [{"fact": "plum -> red", "said": "blue"}]


def test_a_folder_remembers_that_case_and_punctuation_are_ignored(rote, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("country,capital\nFrance,Paris\nCôte d'Ivoire,Yamoussoukro\nFRANCE,Paris\n")
    built = rote("build", path, "-o", tmp_path / "m", "--ignore-case", "--ignore-punctuation")
    assert "note: 1 key differs from another only in case or surrounding punctuation; such keys are one" in built.err
    assert rote("ask", tmp_path / "m", "france!").out.startswith("Paris")
    assert rote("ask", tmp_path / "m", '"CÔTE', "D'IVOIRE\"").out.startswith("Yamoussoukro")
    told = rote("ask", tmp_path / "m", "-", stdin="FRANCE?\ncôte d'ivoire\n")
    assert [line.split(",")[1] for line in told.out.splitlines()[1:]] == ["Paris", "Yamoussoukro"]
    assert rote("verify", tmp_path / "m").code == 0


def test_an_encoding_that_does_not_exist_is_answered_in_flags(rote, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"k,a\nx\x81,y\n")
    refused = rote("build", path, "-o", tmp_path / "m", "--encoding", "klingon")
    assert refused.code == 2
    assert "--encoding" in refused.err
    assert "--encoding ...: latin-1" in rote("build", path, "-o", tmp_path / "m").err


def test_a_budget_that_no_method_keeps_is_told_beside_what_was_used(rote, tmp_path):
    told = rote("build", "countries", "-o", tmp_path / "m", "--within", "0")
    assert told.code == 0
    assert re.search(r"budget 0 s of CPU time .* s used: no faster method was left", " ".join(told.out.split()))


def test_article_numbers_without_their_zeros_are_named(rote, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("part,place\n00007,Hall A\n00012,Yard\n00123,Hall B\n")
    assert rote("build", path, "-o", tmp_path / "m").code == 0
    told = rote("ask", tmp_path / "m", "7")
    assert (told.code, told.out.splitlines()[1:]) == (1, ["did you mean: 00007"])


def test_a_space_that_comes_second_is_seen(rote, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("part,price\nbolt 4x20,150\nbolt 4x30,175\nnut M4,20\n")
    assert rote("build", path, "-o", tmp_path / "m", "--keys", "letters").code == 0
    told = rote("ask", tmp_path / "m", "bolt 4x30", "--runners-up", "20").out
    assert "runner-up ' '" in told
