"""The next-token distributions that statements are checked on: random ones, and real ones made from texts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from rote.papers.kinds.statement_settings import Distributions
from rote.tasks import DistributionTask
from rote.tasks.labelled_text.sequences import WORD
from rote.tasks.labelled_text.sources import definitions
from rote.tasks.next_tokens import next_tokens
from rote.tasks.sources.countries import load

SHARPNESS = 2.0
"""Standard deviation of random logits."""
TEXTS = 20_000
"""Definitions that are counted, the first of the file."""


def distributions(asked: Distributions, seed: int) -> DistributionTask:
    """The distributions of a cell; real texts are the same for every seed."""
    task = _random(asked, seed) if asked.source in ("random", "noisy table") else _real(asked)
    if asked.prior == "uniform":
        return replace(task, prior=np.ones(task.facts))
    if asked.prior == "zipf":
        ranks = np.empty(task.facts)
        ranks[np.argsort(-task.prior, kind="stable")] = np.arange(1, task.facts + 1)
        return replace(task, prior=1 / ranks)
    return task


def _random(asked: Distributions, seed: int) -> DistributionTask:
    if asked.vocab is None:
        raise ValueError(f"{asked.source} distributions need a vocab")
    draw = np.random.default_rng(seed)
    keys = draw.choice(asked.vocab**2, asked.contexts, replace=False)
    contexts = np.stack(np.divmod(keys, asked.vocab), 1)
    if asked.source == "random":
        rows = np.exp(SHARPNESS * draw.standard_normal((asked.contexts, asked.vocab)))
    else:
        rows = np.zeros((asked.contexts, asked.vocab))
        rows[np.arange(asked.contexts), draw.integers(asked.vocab, size=asked.contexts)] = 1
    return _mixed(DistributionTask.from_dense(contexts, rows), asked.noise)


def _real(asked: Distributions) -> DistributionTask:
    texts = _letters() if asked.source == "names" else _words()
    task = next_tokens(texts, 2, contexts=asked.contexts, vocab=asked.vocab, source=asked.source)
    return _mixed(task, asked.noise)


def _mixed(task: DistributionTask, noise: float) -> DistributionTask:
    """So much probability spread evenly over all tokens: Assumption 2 of Dana et al. has none at zero."""
    if not noise:
        return task
    rows = (1 - noise) * task.dense() + noise / task.vocab
    return DistributionTask.from_dense(task.contexts, rows, task.prior, task.vocabulary, task.origin)


@cache
def _letters() -> list[str]:
    """Names of countries and capitals, a letter a token."""
    columns = load().columns
    capitals = {
        answer for relation, answer in zip(columns["relation"], columns["answer"], strict=True) if relation == "capital"
    }
    return sorted({name.lower() for name in {*columns["country"], *capitals}})


@cache
def _words() -> list[list[str]]:
    """Definitions of nouns, a word a token."""
    return [WORD.findall(text.lower()) for text in definitions().texts[:TEXTS]]
