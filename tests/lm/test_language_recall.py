"""Recall of facts by language models, against plain scoring of every answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import InputError
from rote.lm.loading import load_language_model as load
from rote.lm.recall import Search, answer_tree
from rote.lm.recall import language_recall as recall
from rote.tasks.facts import facts

PLAIN = "The capital of {country} is"


@torch.no_grad()
def log_probability(model, prompt: str, answer: str) -> float:
    """Of an answer after a prompt, token by token without any cache."""
    start = model.encode([prompt])[0]
    whole = model.encode([f"{prompt} {answer}"])[0]
    logits = model.module(torch.tensor([whole])).logits[0].double().log_softmax(-1)
    return sum(float(logits[place - 1, whole[place]]) for place in range(len(start), len(whole)))


@pytest.mark.parametrize(("kind", "batch"), [("gpt2", 2), ("gpt2", 64), ("mamba", 64)])
def test_replies_are_those_of_scoring_every_answer_alone(kind, batch, request, capitals):
    model = load(request.getfixturevalue(kind))
    task = facts(str(capitals), keys="words")
    result = recall(model, task, [PLAIN], batch=batch)
    answers = [task[row].answer for row in range(task.facts)]
    for reply in result.replies:
        country = task[reply.row].key[0]
        scores = [log_probability(model, f"The capital of {country} is", answer) for answer in answers]
        assert reply.chosen == answers[int(np.argmax(scores))]
        assert reply.choice == (reply.chosen == reply.answer)
        assert reply.log2_probability * math.log(2) == pytest.approx(scores[answers.index(reply.answer)], abs=1e-4)
        neutral = log_probability(model, "The capital of this country is", reply.answer)
        assert reply.neutral_log2_probability * math.log(2) == pytest.approx(neutral, abs=1e-4)
        assert reply.whole_answer == (reply.said == reply.answer)
        assert reply.first_token == (reply.said.split()[0] == reply.answer.split()[0])


def test_a_table_of_what_a_model_says_is_recalled_whole(gpt2, capitals, tmp_path):
    model = load(gpt2)
    replies = recall(model, facts(str(capitals), keys="words"), [PLAIN]).replies
    path = tmp_path / "said.csv"
    countries = ("France", "Italy", "Peru", "Norway", "America")
    lines = [f"{countries[reply.row]},{reply.said}" for reply in replies]
    path.write_text("\n".join(["country,capital", *lines]) + "\n")
    result = recall(model, facts(str(path), keys="words"), [PLAIN])
    right = result.tally().right
    assert (right["first_token"], right["whole_answer"]) == (5, 5)
    # Another answer than the greedy one may be likelier as a whole, where it has several tokens.
    assert all(reply.choice for reply in result.replies if " " not in reply.answer)
    low, high = result.tally().interval("whole_answer")
    assert 0.5 < low < high == 1


def test_several_templates_give_a_mean_and_a_spread(gpt2, capitals):
    result = recall(load(gpt2), facts(str(capitals), keys="words"), [PLAIN, "what country is {country} capital"])
    shares = [result.tally(template).right["choice"] / 5 for template in result.templates]
    mean, spread = result.spread(None, "choice")
    assert mean == pytest.approx(np.mean(shares))
    assert spread == pytest.approx(np.std(shares, ddof=1))


def test_relations_are_counted_apart(gpt2, tmp_path):
    path = tmp_path / "facts.csv"
    path.write_text("relation,country,answer\ncapital,France,Paris\ncapital,Italy,Rome\nkey,Peru,red\n")
    model = load(gpt2)
    result = recall(model, facts(str(path), keys="words"), ["The {relation} of {country} is"])
    assert [result.tally(relation=name).facts for name in result.relations] == [2, 1]
    assert next(reply for reply in result.replies if reply.relation == "key").chosen == "red"
    assert recall(model, facts(str(path), keys="words"), [PLAIN], relation="capital").tally().facts == 2
    with pytest.raises(InputError, match="2 relations"):
        recall(model, facts(str(path), keys="words"), [PLAIN])
    with pytest.raises(InputError, match="relations: capital, key"):
        recall(model, facts(str(path), keys="words"), [PLAIN], relation="colour")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("The capital of {nation} is", "no key column 'nation'"),
        ("The capital of {country is", "expected '}'"),
        ("The capital is", "names no column"),
        ("The capital of {country} is ", "ends in a space"),
        ("The capital of {country!r} is", "nothing but the name"),
    ],
)
def test_a_template_that_cannot_be_filled_is_named(gpt2, capitals, template, message):
    with pytest.raises(InputError, match=message):
        recall(load(gpt2), facts(str(capitals), keys="words"), [template])


def test_words_that_the_tokenizer_does_not_know_are_named(gpt2, tmp_path):
    path = tmp_path / "facts.csv"
    path.write_text("country,capital\nFrance,Paris\nMali,Bamako\n")
    with pytest.raises(InputError, match=r"(?s)1 prompts hold words.*Mali.*1 answers.*Bamako"):
        recall(load(gpt2), facts(str(path), keys="words"), [PLAIN])


def test_templates_come_with_countries_and_nothing_else(gpt2, capitals):
    with pytest.raises(InputError, match="templates come with countries"):
        recall(load(gpt2), facts(str(capitals), keys="words"))
    with pytest.raises(InputError, match="cannot encode these facts"):
        recall(load(gpt2), facts("countries"))


def test_the_search_opens_no_more_than_it_must():
    root = answer_tree([(1, 2), (1, 3), (4,), (5, 6, 7), (1,)])
    start = np.full(8, -9.0)
    start[[1, 4, 5]] = -1.0, -0.5, -3.0
    search = Search(root, known=0, log_probability=-4.0)
    search.read(start)
    assert (search.best, search.open) == (2, None)
    sure = Search(root, known=3, log_probability=-0.1)
    sure.read(start)
    assert (sure.best, sure.open) == (3, None)


def test_an_answer_may_begin_another():
    root = answer_tree([(1, 2), (1,)])
    search = Search(root, known=0, log_probability=-5.1)
    search.read(np.array([0.0, -0.1, -5.0]))
    assert search.best == 1


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple), min_size=1, max_size=12, unique=True),
    st.integers(0, 2**32 - 1),
)
def test_the_search_finds_what_scoring_every_answer_finds(answers, seed):
    def after(path):
        scores = np.random.default_rng([seed, *path, 9]).normal(size=4)
        return scores - np.log(np.exp(scores).sum())

    totals = [sum(after(tokens[:place])[token] for place, token in enumerate(tokens)) for tokens in answers]
    search = Search(answer_tree(answers), known=0, log_probability=totals[0])
    while search.open is not None:
        search.read(after(search.open.path))
    assert totals[search.best] == pytest.approx(max(totals))
