"""Text to ids and back, for keys in words and in letters, with and without ids for places."""

from __future__ import annotations

import numpy as np
import pytest

from rote.errors import InputError
from rote.export.common.places import inputs_of, pairs_of
from rote.export.subject import subject_of
from rote.tasks import AssociationTask
from rote.tasks.origin import Origin, Reading
from rote.tasks.spelling import Spelling, refuse_ambiguous

pytestmark = pytest.mark.filterwarnings("ignore")

LETTERS, SPACES = Origin(reading=Reading(keys="letters")), Origin(reading=Reading(keys="spaces"))

TABLES = {
    "words": AssociationTask.from_facts([(("capital", "France"), "Paris"), (("code", "New Zealand"), "+64")]),
    "words within words": AssociationTask.from_facts(
        [(("of", "Guinea"), "a"), (("of", "Guinea Bissau"), "b c"), (("of the", "Guinea"), "d")]
    ),
    "the same word at two places": AssociationTask.from_facts([(("1", "12", "1"), "2"), (("12", "1", "1"), "1")]),
    "regular expressions": AssociationTask.from_facts([(("a+b c", "(x|y)"), "["), ((".* d", "\\K"), "^$")]),
    "letters": AssociationTask.from_facts([(tuple("AAB"), "Asia/Tokyo"), (tuple("BAA"), "AAB")], LETTERS),
    "padded letters": AssociationTask.from_facts(
        [(("<pad>", "<pad>", "o", "x"), "big one"), (("a", " ", "<sep>", "b"), "o"), (("<pad>", "c", "a", "t"), "x y")],
        LETTERS,
    ),
    "what spaces divide": AssociationTask.from_facts(
        [(("<pad>", "<pad>", "Rome"), "Italy"), (("New", "York", "City"), "United States"), (("<pad>", "a", "a"), "a")],
        SPACES,
    ),
}


@pytest.mark.parametrize("tagged", [False, True], ids=["one id a token", "an id a place"])
@pytest.mark.parametrize("name", TABLES)
def test_every_key_is_read_and_every_answer_written(name, tagged):
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    from rote.export.common.tokenizer import make_tokenizer

    task = TABLES[name]
    spelling, contexts = Spelling.of(task), task.contexts.astype(np.int64)
    pairs = pairs_of(contexts) if tagged else None
    if tagged and pairs is None:
        pairs = tuple((int(token), place) for place, column in enumerate(contexts.T) for token in np.unique(column))
    ids = inputs_of(contexts, pairs, task.vocab)
    tokenizer, size = make_tokenizer(spelling, contexts, pairs)
    assert size == task.vocab + len(pairs or ()) + 2
    texts = spelling.texts(contexts)
    words = [spelling.tokens[answer] for answer in task.answers]
    for key, text, answer, word in zip(contexts.tolist(), texts, task.answers.tolist(), words, strict=True):
        meant = [ids[token, place] if tagged else token for place, token in enumerate(key)]
        assert tokenizer.encode(text).ids == meant
        assert tokenizer.encode(text + spelling.delimiter + word).ids == [*meant, answer]
        assert tokenizer.decode([answer]) == word
        assert spelling.ids(text) == key


def test_text_without_a_key_in_it_is_not_read_as_one():
    spelling = Spelling.of(TABLES["words"])
    assert spelling.ids("capital Spain") == []
    assert spelling.ids("capital") == []
    assert Spelling.of(TABLES["padded letters"]).ids("dog") == []


def test_tokens_at_one_place_each_need_no_other_ids():
    assert pairs_of(TABLES["words"].contexts) is None
    assert pairs_of(np.array([[0, 1], [2, 0]])) == ((0, 0), (2, 0), (0, 1), (1, 1))


def test_keys_that_are_written_alike_are_refused(words):
    torn = AssociationTask.from_facts([(("a b", "c"), "x"), (("a", "b c"), "y")])
    assert "both written 'a b c'" in refuse_ambiguous(Spelling.of(torn), torn)[0]
    assert refuse_ambiguous(Spelling.of(words.task), words.task) == []


def test_facts_come_from_where_the_folder_says(tmp_path, monkeypatch):
    import rote

    monkeypatch.chdir(tmp_path)
    (tmp_path / "facts.csv").write_text("a,b,c\nx,1,u\ny,1,v\nx,2,v\ny,2,u\n")
    task = rote.facts("facts.csv")
    built = rote.build(task, "dana2025.theorem1")
    rote.write_folder("model", built.model, task.origin, built.provenance, built.certificate)
    assert subject_of("model").task.facts == 4
    (tmp_path / "facts.csv").write_text("a,b,c\nx,1,u\ny,1,v\nx,2,v\ny,2,v\n")
    with pytest.raises(InputError, match="other facts now"):
        subject_of("model")
    (tmp_path / "facts.csv").unlink()
    with pytest.raises(InputError, match="which is not read again"):
        subject_of("model")
