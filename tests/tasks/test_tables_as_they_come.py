"""Tables as they come: no header, spaces, blanks, other delimiters, contradictions, Python objects, standard input."""

import io
import sys

import pytest

from rote.errors import InputError
from rote.tasks.facts import facts


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def words(task) -> dict[str, str]:
    return {str(task[row]).partition(" -> ")[0]: task[row].answer for row in range(task.facts)}


@pytest.mark.parametrize(
    "text",
    ["apple,red\nplum,blue\ncherry,red\n", "1,odd\n2,even\n3,prime\n", "A1,x\nB2,y\nC3,z\n"],
    ids=["an answer again", "a number", "made alike"],
)
def test_a_first_line_that_is_a_fact_is_one(write, text):
    task = facts(write(text))
    assert task.facts == 3
    assert "the first line is a fact" in " ".join(task.origin.notes)
    assert task.origin.reading.header == "no"


@pytest.mark.parametrize(
    "text",
    ["fruit,colour\napple,red\nplum,blue\n", "id,hash\n1,a\n2,b\n", "sku2,type\nAB-1,x\nCD-2,y\n"],
)
def test_a_first_line_that_names_columns_is_a_header(write, text):
    task = facts(write(text))
    assert task.facts == 2
    assert task.origin.key_columns == (text.partition(",")[0],)


def test_a_header_that_is_asked_for_is_one_whatever_it_looks_like(write):
    path = write("1,2\n3,4\n5,6\n")
    assert facts(path).facts == 3
    assert facts(path, header="yes").facts == 2
    assert facts(path, key="1").facts == 2
    assert facts(write("name,answer\na,b\n"), header="no").facts == 2


def test_spaces_around_cells_are_taken_off(write):
    task = facts(write(" key , answer\n a ,x\nb, y \n"))
    assert words(task) == {"a": "x", "b": "y"}
    assert "spaces around 2 cells were taken off" in task.origin.notes


def test_rows_with_blank_cells_are_left_out_on_request(write):
    path = write("key,answer\na,x\n,y\nb,\nc,z\n")
    with pytest.raises(InputError, match="blanks=skip"):
        facts(path)
    task = facts(path, blanks="skip")
    assert words(task) == {"a": "x", "c": "z"}
    assert "2 rows with a blank cell were left out" in task.origin.notes


@pytest.mark.parametrize(("choice", "answer"), [("first", "x"), ("last", "z"), ("most", "y")])
def test_one_of_several_answers_is_chosen(write, choice, answer):
    path = write("key,answer\na,x\na,y\nb,w\na,y\na,z\n")
    with pytest.raises(InputError, match="contradictions=first"):
        facts(path)
    task = facts(path, contradictions=choice)
    assert words(task) == {"a": answer, "b": "w"}
    assert task.ceiling == 1


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_another_delimiter_is_noticed(write, delimiter):
    task = facts(write(f"key{delimiter}answer\na{delimiter}x\nb{delimiter}y\n"))
    assert words(task) == {"a": "x", "b": "y"}
    assert "cells are divided by" in " ".join(task.origin.notes)


def test_a_delimiter_may_be_named(write):
    task = facts(write("key:answer\na,1:x\nb,2:y\n"), delimiter=":")
    assert words(task) == {"a,1": "x", "b,2": "y"}


def test_keys_of_one_cell_are_spelled_and_of_several_are_words(write):
    spelled = facts(write("key,answer\nab,x\nc,y\n"))
    assert (spelled.origin.reading.keys, spelled.context) == ("letters", 2)
    assert "read in letters" in " ".join(spelled.origin.notes)
    assert facts(write("a,b,answer\np,q,x\nr,s,y\n", "other.csv")).origin.reading.keys == "words"


def test_which_columns_are_the_key_is_told_where_nobody_said(write):
    path = write("plant,family,light\nbasil,mint,sun\nfern,polypody,shade\n")
    assert "keys are the columns plant, family, answers light" in facts(path).origin.notes[0]
    assert not any("columns" in note for note in facts(path, key=["plant"], answer="light").origin.notes)
    assert not facts(write("plant,family,answer\nbasil,mint,sun\n", "told.csv")).origin.notes


def test_keys_of_one_letter_still_have_something_to_attend_to(write):
    assert facts(write("key,answer\na,x\nb,y\n")).context == 2


def test_keys_may_be_split_at_spaces(write):
    task = facts(write("sentence,answer\nthe old cat,x\nthe dog,y\n"), keys="spaces")
    assert task.context == 3
    assert task[1].key == ("<pad>", "the", "dog")
    assert words(task) == {"the old cat": "x", "the dog": "y"}


def test_what_was_read_is_read_again_the_same(write):
    path = write("ab;x\nc;y\ncde;x\n")
    task = facts(path)
    again = facts(path, **task.origin.reading.model_dump(exclude_defaults=True))
    assert again.fingerprint == task.fingerprint


@pytest.mark.parametrize(
    "source",
    [
        {"apple": "red", "plum": "blue"},
        [("apple", "red"), ("plum", "blue")],
        (pair for pair in [("apple", "red"), ["plum", "blue"]]),
    ],
    ids=["mapping", "pairs", "iterator"],
)
def test_facts_are_taken_as_python_has_them(source):
    assert words(facts(source)) == {"apple": "red", "plum": "blue"}


def test_keys_of_several_parts_are_tuples():
    task = facts({("capital", "France"): "Paris", ("capital", "Peru"): "Lima"})
    assert words(task) == {"capital France": "Paris", "capital Peru": "Lima"}
    assert task.origin.key_columns == ("key 1", "key 2")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "there are none"),
        ([("a", "b"), "c"], "not a pair"),
        ([(("a", "b"), "c"), ("d", "e")], "1 to 2 parts"),
        ({"a": None}, "not text or a number"),
        (object(), "a task, found object"),
    ],
)
def test_what_is_no_fact_is_refused(source, message):
    with pytest.raises(InputError, match=message):
        facts(source)


def test_a_task_is_itself():
    task = facts({"a": "b"})
    assert facts(task) is task


@pytest.mark.parametrize("text", ["key,answer\na,x\n", '{"key": "a", "answer": "x"}\n'])
def test_a_table_may_come_from_standard_input(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert words(facts("-")) == {"a": "x"}
