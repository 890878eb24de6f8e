"""The search for the densest memory: its candidates, what it says of them, and that it resumes."""

import math

import pytest

from rote.errors import InputError
from rote.experiments.densest import LOADS, candidates, densest_shape, protocol_of, vocab_of_load
from rote.experiments.ledgers.ledger import Ledger
from rote.measure.recall import bits_memorized, recall
from rote.measure.softmax_code import softmax_code
from rote.models.attention_only import AttentionOnly
from rote.tasks.generators import random_associations
from rote.training.train import train

SMALL = {"vocabs": [10, 12], "dims": [4], "head_dims": [1, 2, 4], "rounds": [60, 150], "seeds": 2, "workers": 1}


def test_candidates_use_up_the_budget_and_hold_k_equal_d():
    shapes = candidates(2000)
    assert len({spec.vocab for spec in shapes}) == len(LOADS)
    for spec in shapes:
        one_head = 4 * spec.dim * spec.head_dim
        assert 2000 - one_head < spec.parameters() <= 2000
        load = spec.vocab**spec.context * math.log2(spec.vocab) / spec.parameters()
        assert 1.9 < load < 3.6 * 2000 / spec.parameters() + 0.2
    dims = {spec.dim for spec in shapes}
    assert {spec.dim for spec in shapes if spec.dim == spec.head_dim} >= {dim for dim in dims if dim <= 10}


@pytest.mark.parametrize("load", [0.5, 2.4, 3.6])
@pytest.mark.parametrize("parameters", [500, 4400, 100_000])
def test_vocabulary_of_a_load_is_the_nearest(load, parameters):
    def miss(vocab):
        return abs(vocab**2 * math.log2(vocab) - load * parameters)

    vocab = vocab_of_load(load, parameters)
    assert miss(vocab) <= min(miss(vocab - 1), miss(vocab + 1))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"parameters": 0}, "parameters=0"),
        ({"parameters": 100, "vocabs": [50]}, "too few for any shape"),
        ({"parameters": 2000, "vocabs": [1]}, "`vocabs`: 1"),
        ({"parameters": 2000, "dims": [0], "head_dims": [-1]}, "`head_dims`: -1"),
        ({"parameters": 2000, "context": 1}, "context=1"),
        ({"parameters": 2000, "rounds": [300, 100]}, "`rounds`: \\[300, 100\\]"),
        ({"parameters": 2000, "rounds": []}, "`rounds`: \\[\\]"),
        ({"parameters": 2000, "seeds": 0}, "seeds=0"),
        ({"parameters": 2000, "keep": 0.0}, "keep=0.0"),
    ],
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(InputError, match=named):
        densest_shape(**arguments)


def test_a_shape_holds_what_its_models_hold():
    search = densest_shape(400, **SMALL)
    first, last = search.rounds
    assert len(first) == 6
    assert 3 <= len(last) <= 4
    assert search.trained == len(first) + 2 * len(last)
    best = search.best
    assert best is not None
    assert best.code == max(shape.code for shape in last)
    code, answers = [], []
    for seed in range(2):
        task = random_associations(best.spec.vocab, 2, seed=seed)
        (trained,) = train(task, best.spec, [seed], protocol_of(best.spec, 150, "code"), workers=1)
        recalled = recall(trained.model, task).recalled
        code.append(softmax_code(trained.model, task).bits_per_parameter)
        answers.append(bits_memorized(task.entropy_bits, 100 if task.vocab == 10 else 144, recalled, task.vocab))
    assert best.code == pytest.approx(sum(code) / 2)
    assert best.answers == pytest.approx(sum(answers) / 2 / best.spec.parameters())
    assert 0 < best.answers <= best.full


def test_a_search_resumes_and_shares_its_trials(tmp_path):
    whole = densest_shape(400, **SMALL)
    first = densest_shape(400, **{**SMALL, "rounds": [60], "seeds": 1}, folder=tmp_path)
    assert first.trained == 6
    resumed = densest_shape(400, **SMALL, folder=tmp_path)
    assert resumed.trained == 2 * len(whole.rounds[-1])
    again = densest_shape(400, **SMALL, folder=tmp_path)
    assert again.trained == 0
    assert len(Ledger.read(tmp_path)[1]) == whole.trained

    def lasting(search):
        return [[{**shape, "cpu_seconds": 0} for shape in ranked] for ranked in search.summary()["rounds"]]

    assert lasting(whole) == lasting(resumed) == lasting(again)
    assert (whole.summary()["run"], again.summary()["run"]) == (None, str(tmp_path))


def test_by_recall_only_whole_tables_win():
    search = densest_shape(
        330, vocabs=[6, 9], dims=[5], head_dims=[1, 2], rounds=[300], seeds=1, by="recall", workers=1
    )
    assert search.best is not None
    assert search.best.complete == 1
    assert search.best.recall == 1
    assert search.best.answers == pytest.approx(search.best.full)
    impossible = densest_shape(60, vocabs=[9], dims=[2], head_dims=[1, 2], rounds=[20], seeds=1, by="recall", workers=1)
    assert impossible.best is None


def test_the_best_shape_with_k_equal_d_stays_to_the_end():
    search = densest_shape(
        700, vocabs=[14], dims=[5, 6], head_dims=[1, 2, 3, 5, 6], rounds=[20, 40], keep=0.01, seeds=1, workers=1
    )
    square = search.square
    assert square is not None
    first = [shape for shape in search.rounds[0] if shape.spec.dim == shape.spec.head_dim]
    assert square.spec == first[0].spec
    assert 3 <= len(search.rounds[-1]) <= 4


def test_protocols_differ_in_focus_alone():
    spec = AttentionOnly(vocab=20, context=2, dim=5, head_dim=2, heads=9)
    code, answers = (protocol_of(spec, 500, by) for by in ("code", "recall"))
    assert code.focus == 0 < answers.focus
    assert code.changed(focus=answers.focus) == answers
    assert protocol_of(spec, 500, "code", peak=0.01).peak == 0.01
