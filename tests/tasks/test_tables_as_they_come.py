"""Tables as they come: no header, spaces, blanks, other delimiters, contradictions, Python objects, standard input."""

import gzip
import io
import sys

import pytest

import rote
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
        ({"a": None}, "not text, a number, a date or a time"),
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


ANSWERS = {"Zürich": "Löwe", "Genève": "Aigle"}
CITIES = "".join(f"{key};{answer}\n" for key, answer in [("Stadt", "Tier"), *ANSWERS.items()])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_are_noticed(tmp_path, encoding):
    path = tmp_path / "staedte.csv"
    path.write_bytes(CITIES.encode(encoding))
    task = facts(path)
    assert words(task) == ANSWERS
    assert any("UTF" in note for note in task.origin.notes) == (not encoding.startswith("utf-8"))
    if encoding == "latin-1":
        assert "read as Windows-1252, as in 'Zürich'" in " ".join(task.origin.notes)


def test_an_encoding_that_is_named_is_used(tmp_path):
    path = tmp_path / "goroda.csv"
    path.write_bytes("город,река\nМосква,Москва\nКиев,Днепр\n".encode("cp1251"))
    assert words(facts(path, encoding="cp1251"))["Киев"] == "Днепр"
    assert words(facts(path)) != words(facts(path, encoding="cp1251"))
    with pytest.raises(InputError, match="is not UTF-8"):
        facts(path, encoding="utf-8")
    with pytest.raises(InputError, match="encoding"):
        facts(path, encoding="rot13")


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("Apfel;1,50\nBirne;2,30\nPflaume;0,99\n", {"Apfel": "1,50", "Birne": "2,30", "Pflaume": "0,99"}),
        ("Ort;Satz\nA;ja, nein\nB;nein\n", {"A": "ja, nein", "B": "nein"}),
        ("Ort, Land;Satz\nA;ja\nB;nein\n", {"A": "ja", "B": "nein"}),
        ("sep=;\nk,1;a\nx,2;b\n", {"k,1": "a", "x,2": "b"}),
        ("sep=|\r\nk|a\r\nx|b\r\n", {"x": "b"}),
        ("key,answer\na;b,c\nd;e,f\n", {"a;b": "c", "d;e": "f"}),
        ("key,answer\n1;2,3\n4;5,6\n", {"1;2": "3", "4;5": "6"}),
    ],
)
def test_the_character_between_cells_is_noticed(write, text, answers):
    assert words(facts(write(text))) == answers


def test_a_line_that_states_the_separator_counts_as_a_line(write):
    with pytest.raises(InputError, match="line 4"):
        facts(write("sep=;\nkey;answer\na;b\nc;d;e\n"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv.gz", "key,answer\na,b\n"),
        ("t.TSV.GZ", "key\tanswer\na\tb\n"),
        ("t.jsonl.gz", '{"key": "a", "answer": "b"}'),
    ],
)
def test_compressed_tables_are_read(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()))
    task = facts(path)
    assert words(task) == {"a": "b"}
    assert task.origin.source == str(path)


@pytest.mark.parametrize("content", [b"key,answer\na,b\n", b'{"key": "a", "answer": "b"}'])
def test_a_compressed_table_may_be_piped_in(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(content))))
    assert words(facts("-")) == {"a": "b"}


def test_case_and_punctuation_are_ignored_on_request(write):
    path = write('question,answer\n"What is the capital of France?",Paris\nWhat is the capital of Japan?,Tokyo\n')
    task = facts(path, ignore_case=True, ignore_punctuation=True)
    assert words(task) == {"what is the capital of france": "Paris", "what is the capital of japan": "Tokyo"}
    built = rote.build(task)
    assert built.model.ask("WHAT IS THE CAPITAL OF FRANCE").answer == "Paris"
    assert built.model.ask("what is the capital of 'Japan'!?").answer == "Tokyo"
    plain = rote.build(facts(path)).model
    assert not plain.ask("WHAT IS THE CAPITAL OF FRANCE").known


def test_keys_that_become_the_same_are_reported(write):
    path = write("key,answer\nUSA,dollar\nusa,dollar\nU.S.A.,dollar\n'usa',dollar\nC++,x\nc#,y\nc,z\n?!,w\n")
    task = facts(path, ignore_case=True)
    assert "1 key differs from another only in case; such keys are one" in task.origin.notes
    assert words(task) == {
        "usa": "dollar", "u.s.a.": "dollar", "'usa'": "dollar", "c++": "x", "c#": "y", "c": "z", "?!": "w"
    }  # fmt: skip
    with pytest.raises(InputError, match=r"'c#' has 2 answers: 'y' \(line 7\), 'z' \(line 8, 'c'\)"):
        facts(path, ignore_punctuation=True)
    both = facts(path, ignore_case=True, ignore_punctuation=True, contradictions="first")
    assert words(both) == {"usa": "dollar", "u.s.a": "dollar", "c++": "x", "c": "y", "?!": "w"}
    assert "3 keys differ from another only in case or surrounding punctuation; such keys are one" in both.origin.notes
