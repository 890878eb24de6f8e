"""Files and DataFrames become tasks, or one message that says what is wrong and where."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import numpy as np
import polars
import pytest

import rote
from rote.errors import InputError
from rote.tasks import AssociationTask, DistributionTask
from rote.tasks.facts import facts
from rote.tasks.templates import with_templates

COUNTRIES = "relation,country,answer\ncapital,France,Paris\ncapital,Japan,Tokyo\ncurrency,Japan,JPY\n"


@pytest.fixture
def file(tmp_path):
    def write(content: str | bytes, name: str = "facts.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def said(task) -> list[str]:
    return [str(task[row]) for row in range(task.facts)]


def refusal(source, **reading) -> str:
    with pytest.raises(InputError) as error:
        facts(source, **reading)
    assert not error.value.__cause__
    return str(error.value)


EXPECTED = ["capital France -> Paris", "capital Japan -> Tokyo", "currency Japan -> JPY"]


def as_jsonl(text: str) -> str:
    header, *rows = (line.split(",") for line in text.splitlines())
    return "\n".join(json.dumps(dict(zip(header, row, strict=True))) for row in rows)


def test_every_format_reads_the_same_facts(file, tmp_path):
    frame = polars.read_csv(COUNTRIES.encode())
    frame.write_parquet(tmp_path / "facts.parquet")
    sources = [
        file(COUNTRIES),
        file(COUNTRIES.replace("\n", "\r\n"), "crlf.csv"),
        file(COUNTRIES.replace("\n", "\r"), "cr.csv"),
        file(b"\xef\xbb\xbf" + COUNTRIES.encode(), "bom.csv"),
        file("\n" + COUNTRIES.replace("\n", "\n\n"), "blank.csv"),
        file(COUNTRIES.rstrip(), "unended.CSV"),
        file(re.sub(r"(\w+)", r'"\1"', COUNTRIES), "quoted.csv"),
        file(COUNTRIES.replace(",", "\t"), "facts.tsv"),
        file(as_jsonl(COUNTRIES), "facts.jsonl"),
        file(as_jsonl(COUNTRIES).replace("\n", "\r\n\r\n"), "facts.ndjson"),
        tmp_path / "facts.parquet",
        frame,
        frame.lazy().collect(),
        str(tmp_path / "facts.csv"),
    ]
    tasks = [facts(source) for source in sources]
    for task in tasks:
        assert isinstance(task, AssociationTask)
        assert said(task) == EXPECTED
    assert len({task.fingerprint for task in tasks}) == 1


def test_origin_is_what_was_written(file):
    path = file(COUNTRIES)
    task = rote.facts(str(path), answer="country", key="answer")
    assert task.origin.source == str(path)
    assert task.origin.reading.answer == "country"
    assert task.origin.reading.key == ("answer",)
    assert said(task)[0] == "Paris -> France"


class Pandas:
    """The few things of a pandas DataFrame that a reader may rely on."""

    def __init__(self, columns: dict[str, list]) -> None:
        self._columns = columns
        self.columns = np.array(list(columns), dtype=object)
        self.shape = (len(next(iter(columns.values()))), len(columns))

    def __getitem__(self, name: str) -> list:
        return self._columns[name]


def test_frames_of_other_libraries():
    frame = Pandas({"key": [1, 2], "other": ["a", "b"], "answer": ["x", "y"]})
    assert said(facts(frame)) == ["1 a -> x", "2 b -> y"]
    missing = Pandas({"key": ["a", None, "c"], "answer": ["x", "y", float("nan")]})
    message = refusal(missing)
    assert "column 'key' is empty in row 2" in message
    assert "column 'answer' is empty in row 3" in message
    assert "column names are text, found 0" in refusal(Pandas({0: ["a"], "b": ["c"]}))  # type: ignore[dict-item]


def test_numbers_in_jsonl_stay_as_written(file):
    text = '{"a": 1, "b": 1.50, "c": true}\n{"a": 100000000000000000000000, "b": 1e5, "c": false}'
    assert said(facts(file(text, "n.jsonl"))) == ["1 1.50 -> true", "100000000000000000000000 1e5 -> false"]


def test_quoted_cells_hold_separators_quotes_and_line_breaks(file):
    path = file('a,b,c\n"one, two","say ""hi""",x\n"three\nfour",e,y\nq,q,\n')
    assert "column 'c' is empty in line 5" in refusal(path)
    good = facts(file('a,b,c\n"one, two","say ""hi""",x\n"three\r\nfour",e,y\n'))
    assert good[0].key == ("one, two", 'say "hi"')
    assert good[1].key == ("three\r\nfour", "e")


def test_letters_are_padded_on_the_left(file):
    task = facts(file("code,where\nABC,x\nD,y\n"), keys="letters")
    assert task[1].key == ("<pad>", "<pad>", "D")
    assert said(task) == ["ABC -> x", "D -> y"]
    assert facts(file("code,where\nABC,x\nD,y\n"), keys="letters", context=5).context == 5
    assert "<pad>" not in facts(file("code,where\nABC,x\nDEF,y\n"), keys="letters").vocabulary.index


def test_letters_of_several_columns_are_kept_apart(file):
    task = facts(file("a,b,answer\nAB,C,x\nA,BC,y\n"), keys="letters")
    assert task[0].key == ("A", "B", "<sep>", "C")
    assert task[1].key == ("A", "<sep>", "B", "C")
    assert said(task) == ["AB C -> x", "A BC -> y"]


def test_letters_beyond_the_basic_plane(file):
    task = facts(file("a,answer\n𝒜é,x\né,y\n"), keys="letters")
    assert task[0].key == ("𝒜", "é")


def test_chosen_columns(file):
    path = file("id,b,answer,note\n1,p,x,n\n2,q,y,m\n")
    assert said(facts(path, key=("id", "b"), answer="answer")) == ["1 p -> x", "2 q -> y"]
    assert said(facts(path, key=["b"])) == ["p -> n", "q -> m"]
    assert said(facts(path, answer="b", key="note")) == ["n -> p", "m -> q"]


def test_a_weight_column_makes_a_distribution(file):
    task = facts(file("a,b,answer,weight\np,q,x,1\np,q,y,3\np,q,x,2\nr,q,z,6\nr,q,y,0\n"))
    assert isinstance(task, DistributionTask)
    assert task[0].answers == pytest.approx({"x": 0.5, "y": 0.5})
    assert task[1].answers == {"z": 1.0}
    assert task.prior == pytest.approx([0.5, 0.5])
    named = facts(file("a,n,answer\np,1,x\np,3,y\n"), weight="n")
    assert named[0].answers == {"x": 0.25, "y": 0.75}
    as_key = facts(file("weight,answer\n3 kg,x\n4 kg,y\n"), key="weight")
    assert said(as_key) == ["3 kg -> x", "4 kg -> y"]


def test_repeated_facts_are_one_fact(file):
    path = file("a,b,answer\np,q,x\nr,s,y\np,q,x\n")
    assert said(facts(path)) == ["p q -> x", "r s -> y"]
    kept = facts(path, contradictions="keep")
    assert kept.facts == 3
    assert kept.ceiling == 1.0


def test_contradictory_keys_are_named_with_their_lines(file):
    path = file('a,b,answer\np,q,x\nr,s,"y\ny"\np,q,x\np,q,z\nr,s,w\nt,u,v\n')
    message = refusal(path)
    assert "2 contradictory keys" in message
    assert "'p q' has 2 answers: 'x' (line 2), 'z' (line 6)" in message
    assert "'r s' has 2 answers: 'y\\ny' (line 3), 'w' (line 7)" in message
    assert "add a weight column to make a distribution" in message
    assert "`contradictions=keep`" in message
    kept = facts(path, contradictions="keep")
    assert kept.facts == 6
    assert kept.ceiling == pytest.approx(4 / 6)


def test_many_contradictions_are_not_all_listed(file):
    rows = "".join(f"k{place},{answer}\n" for answer in "abcdefg" for place in range(9))
    message = refusal(file("key,answer\n" + rows))
    assert "9 contradictory keys: 'k0' has 7 answers" in message
    assert "and 2 more;" in message
    assert "and 4 more keys" in message


MISSING_QUOTE = 'a,answer\np,x\n"q,y\nr,z\n'

BROKEN = {
    "empty": ("", "the file is empty"),
    "blank": ("\n \n", "the file is empty"),
    "header only": ("a,answer\n", "no rows below them; add facts"),
    "too few cells": ("a,b,answer\np,q,x\nr,s\n", "names 3 columns but line 3 has 2; give every row 3 cells"),
    "too many cells": ("a,answer\np,x\nq,y,z\n\nr,t,u,v\n", "line 3 has 3, line 5 has 4; give every row 2 cells"),
    "damaged UTF-8": (
        b"a,answer\n\xc3\xa9,x\nqr\xe9,y\n",
        "line 3 is not UTF-8: byte 0xe9 at its byte 3; save the file",
    ),
    "no text": (
        b"a,answer\np\x01,x\nqr\xe9,y\n",
        "line 3 is not UTF-8: byte 0xe9 at its byte 3; save the file as UTF-8",
    ),
    "not Windows-1252": (b"a,answer\np\x81,x\n", "line 2 is not UTF-8: byte 0x81 at its byte 2"),
    "UTF-16": ("a,answer\np,x\n".encode("utf-16")[:-1], "is not UTF-16: byte 0x0a"),
    "marked, not UTF-8": (b"\xef\xbb\xbfa,answer\nq\xff,y\n", "line 2 is not UTF-8: byte 0xff at its byte 2"),
    "NUL": ("a,answer\np,x\nq\0,y\n", "line 3 contains a NUL byte"),
    "huge cell": ("a,answer\np,x\n" + "q" * 200_000 + ",y\n", "line 3: a cell that begins here is too large"),
    "huge cell in quotes": ('a,answer\np,x\n"q\n' + "r" * 200_000 + '",y\n', "line 3: a cell that begins here"),
    "open quote": (MISSING_QUOTE, "line 3: a quotation mark that is opened here is never closed"),
    "text after quote": ('a,answer\np,x\n"q"r,y\n', "line 3: text follows a closing quotation mark"),
    "one column": ("answer\nx\ny\n", "a fact needs a key and an answer, but the columns are only answer"),
    "weights alone": ("answer,weight\nx,1\n", "a fact needs a key and an answer"),
    "twice the same name": ("a,a,answer\np,q,x\n", "column names must differ, but 'a' occurs more than once"),
    "no name": (",a,answer\n0,p,x\n", "column 1 of 3 has no name"),
    "empty answer": ("a,answer\np,\nq,y\nr,\n", "column 'answer' is empty in lines 2, 4; fill the cell"),
    "empty key": ("a,b,answer\n,q,x\n", "column 'a' is empty in line 2"),
    "negative weight": ("a,answer,weight\np,x,1\nq,y,-2\n", "not negative, found '-2' in line 3"),
    "NaN weight": ("a,answer,weight\np,x,nan\nq,y,2\n", "found 'nan' in line 2"),
    "infinite weight": ("a,answer,weight\np,x,1\nq,y,inf\n", "found 'inf' in line 3"),
    "worded weight": ("a,answer,weight\np,x,much\nq,y,\n", "found 'much' in line 2, '' in line 3"),
    "no weight": ("a,answer,weight\np,x,0\nq,y,0\n", "every weight is zero"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused(file, name):
    content, message = BROKEN[name]
    path = file(content)
    found = refusal(path)
    assert found.startswith(str(path))
    assert message in found


BROKEN_LINES = {
    "bad": ('{"a": "p", "b": "x"}\n{"a": "q", "b": }\n', "line 2 is not JSON (Expecting value at character 17)"),
    "list": ('{"a": "p", "b": "x"}\n["q", "y"]\n', "line 2 is not an object"),
    "lacking": ('{"a": "p", "b": "x"}\n{"a": "q"}\n', "line 2 lacks 'b'; every object needs"),
    "adding": ('{"a": "p", "b": "x"}\n\n{"a": "q", "b": "y", "c": 1}\n', "line 3 adds 'c'"),
    "nested": ('{"a": "p", "b": ["x"]}\n', "line 1 has a list in 'b'"),
    "null": ('{"a": "p", "b": null}\n', "column 'b' is empty in line 1"),
    "deep": ("[" * 100_000, "line 1 is nested too deeply"),
    "NUL": ('{"a": "p\\u0000", "b": "x"}\n', "line 1: column 'a' contains a NUL character"),
    "surrogate": ('{"a": "p\\ud800", "b": "x"}\n', "line 1: column 'a' contains half of a surrogate pair"),
    "huge": ('{"a": "' + "p" * 200_000 + '", "b": "x"}\n', "line 1: a cell of column 'a' holds more than 131,072"),
    "empty object": ("{}\n", "line 1 is not an object with names"),
    "NaN weight": ('{"a": "p", "b": "x", "weight": NaN}\n', "found 'NaN' in line 1"),
}


@pytest.mark.parametrize("name", BROKEN_LINES)
def test_broken_json_lines_are_refused(file, name):
    content, message = BROKEN_LINES[name]
    assert message in refusal(file(content, "facts.jsonl"))


def test_many_broken_json_lines_are_not_all_listed(file):
    message = refusal(file("{\n" * 12, "facts.jsonl"))
    assert "line 5 is not JSON" in message
    assert "and 7 more lines" in message


def test_every_problem_at_once(file):
    message = refusal(file("a,answer,weight\n,x,1\nq,,2\nr,z,-1\n"))
    for part in ("3 problems", "'a' is empty in line 2", "'answer' is empty in line 3", "'-1' in line 4"):
        assert part in message


def test_unknown_columns_and_double_roles(file):
    path = file(COUNTRIES)
    message = refusal(path, answer="anwser", key=("relation", "city"))
    assert "there is no column 'anwser' (did you mean 'answer'?); columns: relation, country, answer" in message
    assert "there is no column 'city'" in message
    assert "column 'answer' cannot be two things at once" in refusal(path, answer="answer", key="answer")
    assert "name at least one column" in refusal(path, key=())


def test_contexts_that_do_not_fit(file):
    path = file("code,where\nABC,x\nD,y\n")
    assert "the key 'ABC' alone has 3 letters; give at least 3" in refusal(path, keys="letters", context=2)
    assert "one token per key column, here 1" in refusal(path, context=2, keys="words")


def test_reserved_answers(file):
    assert "rename that answer" in refusal(file("code,where\nABC,<pad>\n"), keys="letters")
    assert said(facts(file("a,b,where\nA,B,<pad>\n"))) == ["A B -> <pad>"]


def test_parquet_and_frames_that_are_not_tables(file, tmp_path):
    assert "is not a readable Parquet file" in refusal(file("nonsense", "facts.parquet"))
    assert "column 'b' holds List(Int64)" in refusal(polars.DataFrame({"a": ["x"], "b": [[1]]}))
    assert "there are no rows" in refusal(polars.DataFrame({"a": [], "b": []}, schema={"a": str, "b": str}))
    assert "column 'b' is empty in row 2" in refusal(polars.DataFrame({"a": ["x", "y"], "b": [1, None]}))
    assert "a generator, a named source or a task, found int" in refusal(3)


def test_paths_that_lead_nowhere(tmp_path, file, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no such file; check the path" in refusal("nowhere.csv")
    assert "there is no such file" in refusal("folder/nowhere")
    assert "there is no such file" in refusal(Path("airports"))
    assert "is a folder" in refusal(str(tmp_path))
    assert "the suffix '.ods' tells no known format (save it as .xlsx or .csv)" in refusal(file("a,b\n", "facts.ods"))
    file("a,b\nc,d\n", "bare")
    assert "a file needs a suffix" in refusal("bare")
    (tmp_path / "folder.csv").mkdir()
    assert "is a folder; name a file in it" in refusal("folder.csv")


def test_a_file_wins_over_a_source_only_with_a_suffix_or_a_folder(tmp_path, file, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file("a,b,c\np,q,x\n", "countries")
    file("a,b,c\np,q,x\n", "countries.csv")
    assert facts("countries").facts > 900
    assert facts("countries.csv").facts == 1


def test_unknown_reading_options_are_named():
    message = refusal("countries", kyes="letters")
    assert "unknown option 'kyes'" in message
    assert "known: key, answer, weight, keys, context, contradictions" in message
    assert "keys" in refusal("countries", keys="syllables")
    assert facts("countries", keys=None, answer=None).facts == facts("countries").facts


def test_a_million_columns_are_refused_in_one_line(tmp_path):
    path = tmp_path / "facts.csv"
    path.write_text(",".join(["x"] * 1_000_000) + "\n")
    with pytest.raises(InputError, match="1,000,000 columns are more than the 16,384 of a spreadsheet") as refused:
        facts(path)
    assert len(str(refused.value)) < 500


def test_of_very_many_names_a_message_lists_a_few(tmp_path):
    path = tmp_path / "facts.csv"
    names = [f"column{place}" for place in range(10_000)]
    path.write_text(",".join(names) + "\n" + ",".join(names) + "\n")
    with pytest.raises(InputError, match="and 9,980 more") as refused:
        facts(path, answer="nothing")
    assert len(str(refused.value)) < 1000


def test_a_parquet_file_that_is_damaged_inside_is_refused(tmp_path, capfd):
    import polars

    path = tmp_path / "facts.parquet"
    polars.DataFrame({"a": ["x", "y"], "b": ["1", "2"]}).write_parquet(path)
    whole = path.read_bytes()
    for place in range(4, len(whole) - 8, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with contextlib.suppress(InputError):
            facts(path)
    assert capfd.readouterr().err == ""


def test_a_parquet_file_of_very_many_cells_is_not_read(tmp_path):
    """Its bytes are few: every column is one number, again and again."""
    column = polars.Series("x", [0], dtype=polars.Int8).new_from_index(0, 2**20)
    polars.DataFrame({f"c{number}": column for number in range(65)}).write_parquet(tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 2**20
    with pytest.raises(InputError, match="1,048,576 rows of 65 columns are too many"):
        rote.facts(tmp_path / "t.parquet")


def test_sentences_of_very_many_letters_are_not_made():
    task = rote.facts("random:vocab=30,context=2,facts=600,seed=1")
    texts = [f"{{key 1}} {{key 2}} {number} " + "x" * 4000 for number in range(64)]
    with pytest.raises(InputError, match="letters in the sentences of 600 facts"):
        with_templates(task, texts)
