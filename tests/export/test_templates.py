"""Sentences that an exported tokenizer reads as keys."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import rote
from rote.errors import InputError

TABLE = {
    ("capital", "France"): "Paris",
    ("capital", "United States"): "Washington",
    ("currency", "France"): "EUR",
    ("currency", "United States"): "USD",
}
SENTENCES = ("The {key 1} of {key 2} is", "In {key 2} people pay with {key 1=currency|money}")


@pytest.mark.parametrize("to", ["llama", "gpt2"])
@pytest.mark.parametrize("method", [None, "madden2025"])
def test_stock_transformers_answers_sentences(tmp_path, to, method):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    task = rote.facts(TABLE)
    exported = rote.export_model(rote.build(task, method), to, tmp_path / "out", task, templates=SENTENCES)
    assert exported.certificate.sentences == exported.certificate.sentences_read == 6
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    for text, answer in (
        ("The capital of United States is", "Washington"),
        ("In France people pay with money", "EUR"),
        ("capital France", "Paris"),
    ):
        written = model.generate(**tokenizer(text, return_tensors="pt"), max_new_tokens=1)
        assert tokenizer.decode(written[0, -1:]).strip() == answer
    with_answer = tokenizer("The capital of France is Paris")["input_ids"]
    assert with_answer[:-1] == tokenizer("capital France")["input_ids"]
    from rote.export.verify import verify_export

    assert verify_export(tmp_path / "out", task).holds


def test_keys_in_letters(tmp_path):
    from transformers import AutoTokenizer

    task = rote.facts({"JFK": "United States", "CDG": "France", "HND": "Japan"}, keys="letters")
    rote.export_model(
        rote.build(task, "dana2025.theorem1"), "llama", tmp_path / "out", task, templates=["Where is {key}?"]
    )
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert tokenizer("Where is CDG?")["input_ids"] == tokenizer("CDG")["input_ids"]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("The capital of {key 2} is", r"does not name the key column 'key 1'; write \{key 1\}"),
        ("The {relation} of {key 2} is", "there is no key column 'relation'"),
        ("{key 1} {key 1} {key 2}", "twice"),
        ("{key 2} has the {key 1}", "order of the key"),
        ("{key 1=capital} of {key 2=France}", "one fact alone"),
        ("{key 1=captal} of {key 2}", "no key has the value 'captal'"),
        ("Of {key 2} the {key 1=capital|one}", None),
    ],
)
def test_templates_that_do_not_fit_are_one_message(tmp_path, template, message):
    task = rote.facts(TABLE)
    built = rote.build(task)
    if message is None:
        assert rote.export_model(built, "llama", tmp_path / "out", task, templates=[template]).certificate.complete
        return
    with pytest.raises(InputError, match=message):
        rote.export_model(built, "llama", tmp_path / "out", task, templates=[template])
    assert not (tmp_path / "out").exists()


def test_one_sentence_for_two_keys_and_a_target_without_a_tokenizer(tmp_path):
    task = rote.facts(TABLE)
    twice = ["{key 1=capital|one} of {key 2}", "{key 1=currency|one} of {key 2}"]
    with pytest.raises(InputError, match="stands for the keys"):
        rote.export_model(rote.build(task), "llama", tmp_path / "out", task, templates=twice)
    with pytest.raises(InputError, match="no tokenizer that reads sentences"):
        rote.export_model(rote.build(task), "torch", tmp_path / "out", task, templates=SENTENCES)


LONG = {**TABLE, ("capital", "India"): "New Delhi", ("capital", "Argentina"): "Ciudad de Buenos Aires"}

READER = """
import sys
from transformers import AutoModelForCausalLM, AutoTokenizer
assert not [name for name in sys.modules if name.split(".")[0] == "rote"]
model, tokenizer = AutoModelForCausalLM.from_pretrained(sys.argv[1]), AutoTokenizer.from_pretrained(sys.argv[1])
for text in sys.argv[2:]:
    ids = tokenizer(text, return_tensors="pt")
    written = model.generate(**ids)[0, ids["input_ids"].shape[1]:]
    assert written[-1] == tokenizer.eos_token_id, written
    print(tokenizer.decode(written, skip_special_tokens=True))
"""


def test_a_fresh_process_writes_every_answer_word_by_word_from_text_alone(tmp_path):
    task = rote.facts(LONG)
    built = rote.build(task, "madden2025", templates=SENTENCES)
    built.save(tmp_path / "model")
    exported = rote.export_model(tmp_path / "model", "llama", tmp_path / "out", task, answers="words")
    assert exported.certificate.sentences == exported.certificate.sentences_read == 8
    assert exported.certificate.generated == 6
    asked = {
        **{f"The {relation} of {country} is": answer for (relation, country), answer in LONG.items()},
        **{f"In {country} people pay with money": LONG["currency", country] for country in ("France", "United States")},
    }
    command = [sys.executable, "-c", READER, str(tmp_path / "out"), *asked]
    environment = {"PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.splitlines() == list(asked.values())
    from rote.export.verify import verify_export

    assert verify_export(tmp_path / "out", task).holds


@pytest.mark.parametrize("to", ["llama", "gpt2"])
def test_answers_in_words_are_read_back(tmp_path, to):
    from transformers import AutoTokenizer

    task = rote.facts(LONG)
    exported = rote.export_model(
        rote.build(task, "dana2025.theorem1"), to, tmp_path / "out", task, templates=SENTENCES, answers="words"
    )
    assert exported.certificate.generated == 6
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    key, answer = tokenizer("The capital of India is")["input_ids"], tokenizer("New Delhi")["input_ids"]
    assert len(answer) == 2
    assert tokenizer(" New Delhi")["input_ids"] == answer
    assert tokenizer("The capital of India is New Delhi")["input_ids"] == key + answer
    assert tokenizer("The capital of India is ")["input_ids"] == key
    assert tokenizer.decode(answer) == "New Delhi"


def test_words_that_are_keys_too_and_targets_that_cannot(tmp_path):
    task = rote.facts({("next", "one"): "two", ("next", "two"): "one"})
    built = rote.build(task, "madden2025")
    assert rote.export_model(built, "llama", tmp_path / "out", task, answers="words").certificate.generated == 2
    with pytest.raises(InputError, match="is both part of a key and an answer"):
        rote.export_model(built, "gpt2", tmp_path / "other", task, answers="words")
    with pytest.raises(InputError, match="`answers=words`: torch writes an answer as one token"):
        rote.export_model(built, "torch", tmp_path / "other", task, answers="words")
    with pytest.raises(InputError, match="does not name the key column 'key 1'"):
        rote.build(task, templates=["After {key 2} comes"])
    assert not (tmp_path / "other").exists()
