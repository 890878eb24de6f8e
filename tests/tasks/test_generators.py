"""Random tasks: sizes, entropy and rank are met, and the same seed gives the same task."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rote
from rote.errors import InputError
from rote.tasks import DistributionTask, VectorTask
from rote.tasks.facts import facts
from rote.tasks.generators import random_associations, random_distributions, random_vectors
from rote.tasks.generators.associations import draw_contexts
from rote.tasks.rows import distinct_rows

GENERATORS = [
    "random:vocab=50,context=2",
    "random:vocab=50,context=2,facts=210",
    "random:vocab=50,context=2,facts=210,answers=7",
    "random:vocab=9,context=2,entropy=1.5,prior=zipf,exponent=1.3",
    "random:vocab=9,context=2,rank=3",
    "random:vocab=9,context=2,prior=zipf",
    "random:kind=vectors,examples=21,context=3,dim=4,classes=5",
    "random:kind=vectors,examples=21,context=3,dim=4,targets=2,shared=true",
]


@pytest.mark.parametrize("text", GENERATORS)
def test_the_seed_decides(text):
    assert facts(text).fingerprint == facts(f"{text},seed=0").fingerprint
    assert facts(f"{text},seed=1").fingerprint != facts(text).fingerprint
    assert facts(text).origin.source == text


def test_all_contexts_when_no_number_is_given():
    task = rote.facts("random:vocab=5,context=3")
    assert task.facts == task.distinct_keys == 125
    assert task.vocab == 5
    assert task.contexts[:2].tolist() == [[0, 0, 0], [0, 0, 1]]


@given(st.integers(1, 12), st.integers(1, 4), st.floats(0.01, 1), st.integers(0, 2**40))
def test_drawn_contexts_are_distinct_tokens_of_the_vocabulary(vocab, context, share, seed):
    wanted = max(1, int(share * vocab**context))
    drawn = draw_contexts(vocab, context, wanted, np.random.default_rng(seed))
    assert len({tuple(row) for row in drawn.tolist()}) == len(drawn) == wanted
    assert drawn.min() >= 0
    assert drawn.max() < vocab


@pytest.mark.parametrize("wanted", [3, 9])
def test_contexts_are_drawn_uniformly(wanted):
    """Each of 16 contexts is in a sample of `wanted` with probability wanted/16; four standard errors."""
    draws = 1500
    rng = np.random.default_rng(0)
    seen = np.zeros(16)
    for _ in range(draws):
        seen[draw_contexts(4, 2, wanted, rng) @ [4, 1]] += 1
    share = wanted / 16
    assert np.abs(seen / draws - share).max() < 4 * np.sqrt(share * (1 - share) / draws)


def test_a_space_too_large_to_enumerate():
    task = random_associations(100_000, 64, 3000, seed=5)
    assert task.distinct_keys == 3000


@given(st.integers(0, 2**31), st.integers(1, 30), st.integers(1, 9), st.integers(1, 60))
def test_distinct_rows_agree_with_plain_counting(seed, vocab, columns, rows):
    ids = np.random.default_rng(seed).integers(vocab, size=(rows, columns), dtype=np.int32)
    # A vocabulary declared larger than needed makes the packing overflow into ranks.
    for declared in (vocab, 2**31):
        first, number = distinct_rows(ids, declared)
        assert sorted(map(tuple, ids[first].tolist())) == sorted(set(map(tuple, ids.tolist())))
        assert np.array_equal(ids[first][number], ids)
        assert all(ids[place].tolist() not in ids[:place].tolist() for place in first)


def test_answers_stay_among_the_first_tokens():
    task = random_associations(50, 2, answers=7, seed=1)
    assert set(task.answers.tolist()) == set(range(7))


@given(st.integers(2, 40), st.floats(0, 1), st.integers(0, 100))
def test_every_row_has_the_entropy_asked_for(vocab, share, seed):
    bits = share * np.log2(vocab)
    task = random_distributions(vocab, 2, min(vocab**2, 12), entropy=bits, seed=seed)
    assert np.abs(task.row_entropies - bits).max() < 1e-9


@pytest.mark.parametrize("entropy", [1e-6, 0.01, 2.0, np.log2(64) - 1e-6, np.log2(64)])
def test_extreme_entropies(entropy):
    task = random_distributions(64, 2, 50, entropy=entropy)
    assert np.abs(task.row_entropies - entropy).max() < 1e-9


@pytest.mark.parametrize(("rank", "entropy"), [(1, None), (5, None), (19, None), (3, 2.0)])
def test_centred_log_probabilities_have_the_rank_asked_for(rank, entropy):
    task = random_distributions(20, 2, 60, rank=rank, entropy=entropy, seed=3)
    logs = np.log(task.dense())
    values = np.linalg.svd(logs - logs.mean(1, keepdims=True), compute_uv=False)
    assert values[rank - 1] > 1e-3
    assert values[rank:].max(initial=0) < 1e-10 * values[0]
    if entropy:
        assert task.row_entropies == pytest.approx(np.full(60, entropy), abs=1e-9)


def test_priors():
    uniform = facts("random:vocab=6,context=2,entropy=1")
    assert np.allclose(uniform.prior, 1 / 36)
    zipf = facts("random:vocab=6,context=2,prior=zipf,exponent=2")
    assert isinstance(zipf, DistributionTask)
    expected = np.arange(1.0, 37) ** -2
    assert np.allclose(np.sort(zipf.prior)[::-1], expected / expected.sum())
    assert not np.all(np.diff(zipf.prior) < 0)
    assert zipf.row_entropies.max() == 0


def test_vectors():
    fresh = facts("random:kind=vectors,examples=21,context=3,dim=4,classes=5")
    assert isinstance(fresh, VectorTask)
    assert fresh.contexts.shape == (21, 3, 4)
    assert not fresh.shared
    assert fresh.labels is not None
    assert fresh.labels.max() < 5
    shared = facts("random:kind=vectors,examples=21,context=3,dim=4,shared=true,targets=2")
    assert shared.shared
    assert shared.contexts.shape == (1, 3, 4)
    assert shared.targets.shape == (21, 2)


@pytest.mark.parametrize(
    "task",
    [
        random_associations(9, 3, 50, answers=4, seed=2),
        random_distributions(9, 2, entropy=1.5, prior="zipf"),
        random_distributions(9, 2),
        random_vectors(9, 2, 3, classes=2, shared=True),
    ],
    ids=lambda task: task.origin.source,
)
def test_what_functions_make_can_be_written_down(task):
    assert facts(task.origin.source).fingerprint == task.fingerprint


REFUSED = {
    "random": "vocab is missing",
    "random:": "'' is not key=value",
    "random:vocab": "'vocab' is not key=value",
    "random:vocab=5,vocab=6,context=2": "vocab is given twice",
    "random:vocab=5,context=2,fact=3": "unknown option 'fact' (did you mean 'facts'?); known: vocab, context, facts",
    "random:vocab=5,context=2,dim=3": "kinds: associations, distributions, vectors",
    "random:vocab=five,context=2": "vocab='five': should be a valid integer",
    "random:vocab=0,context=2": "vocab='0': should be greater than or equal to 1",
    "random:vocab=5,context=2,seed=-1": "seed='-1'",
    "random:kind=vector,vocab=5,context=2": "kind='vector' (did you mean 'vectors'?) is not one of",
    "random:vocab=5,context=2,facts=26": "only 25 different contexts exist",
    "random:vocab=500,context=9": "give facts=N for N random ones",
    "random:vocab=500,context=9,facts=99999999": "more than the 16,777,216 a task may hold",
    "random:vocab=5,context=2,answers=6": "answers are tokens and vocab=5",
    "random:vocab=5,context=2,entropy=1,answers=6": "answers are tokens and vocab=5",
    "random:vocab=8,context=2,entropy=3.1": "8 tokens have at most 3 bits",
    "random:vocab=8,context=2,entropy=nan": "entropy='nan'",
    "random:vocab=8,context=2,rank=8": "has rank at most 7",
    "random:vocab=8,context=2,rank=2,entropy=0": "have no rank",
    "random:vocab=8,context=2,prior=gauss": "prior='gauss': should be 'uniform' or 'zipf'",
    "random:vocab=8,context=2,exponent=2": "a uniform prior has none; add prior=zipf",
    "random:vocab=9999,context=2,facts=99999,entropy=2": "too many probabilities",
    "random:vocab=1,context=2,entropy=0,rank=1": "has rank at most 0",
    "random:kind=vectors,examples=2,context=2,dim=2": "give either classes=C",
    "random:kind=vectors,examples=2,context=2,dim=2,classes=2,targets=1": "give either classes=C",
    "random:kind=vectors,examples=16777216,context=1000,dim=1000,classes=2": "too many to hold",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(InputError) as error:
        facts(text)
    assert REFUSED[text] in str(error.value)


def test_a_generator_is_not_a_table():
    with pytest.raises(InputError, match="answer, keys tell how a table is read"):
        facts("random:vocab=5,context=2", answer="x", keys="letters")
    assert facts("random:vocab=5,context=2", contradictions="refuse").facts == 25


def test_functions_refuse_the_same_way():
    with pytest.raises(InputError, match="random associations: vocab=0"):
        random_associations(0, 2)
