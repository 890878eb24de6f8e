"""rote and lm-evaluation-harness find the same answers right, where its package is installed."""

from __future__ import annotations

import warnings

import pytest

from rote.lm.loading import load_language_model as load
from rote.lm.recall import language_recall as recall
from rote.tasks.facts import facts


def test_one_table_through_both(gpt2, capitals):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        harness = pytest.importorskip("lm_eval.models.huggingface", reason="lm-evaluation-harness is not installed")
        instance = pytest.importorskip("lm_eval.api.instance", reason="lm-evaluation-harness is not installed")
        model = load(gpt2)
        task = facts(str(capitals), keys="words")
        ours = recall(model, task, ["The capital of {country} is"]).replies
        theirs = harness.HFLM(pretrained=model.module, tokenizer=model.tokenizer, device="cpu", batch_size=4)
        answers = [task[row].answer for row in range(task.facts)]
        requests = [
            instance.Instance("loglikelihood", {}, (f"The capital of {task[row].key[0]} is", f" {answer}"), row)
            for row in range(task.facts)
            for answer in answers
        ]
        scored = theirs.loglikelihood(requests, disable_tqdm=True)
    for reply in ours:
        row = scored[reply.row * len(answers) : (reply.row + 1) * len(answers)]
        likeliest = max(range(len(answers)), key=lambda number: row[number][0])
        assert answers[likeliest] == reply.chosen
        assert row[answers.index(reply.answer)][1] == reply.whole_answer
