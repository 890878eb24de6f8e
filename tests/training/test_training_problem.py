import numpy as np
import pytest
from lookups import lookup, noisy

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.tasks import AssociationTask
from rote.training.problem import TrainingProblem
from rote.training.protocol import fast, learning_rates, paper, shortest
from rote.training.run import Data

SPEC = AttentionOnly(vocab=50, context=2, dim=5, head_dim=5, heads=6)
DIM_AND_HEADS = ((5, 6), (10, 31), (13, 31))


def test_contradictory_keys_become_one_context():
    task = AssociationTask.from_facts([(("a", "b"), "x"), (("a", "b"), "y"), (("a", "b"), "x"), (("b", "b"), "y")])
    problem = TrainingProblem.of(task)
    index = task.vocabulary.index
    assert len(problem) == 2
    pair = int(np.flatnonzero((problem.contexts == [index["a"], index["b"]]).all(1))[0])
    assert problem.prior[pair] == pytest.approx(0.75)
    assert problem.answers[pair] == index["x"]
    predicted = np.full(2, index["x"])
    # Three rows have that key and two of them say x; the other key says y.
    assert problem.scores(predicted) @ problem.uniform == pytest.approx(2 / 4)
    predicted[1 - pair] = index["y"]
    assert problem.scores(predicted) @ problem.uniform == pytest.approx(task.ceiling)


def test_distribution_rows_follow_their_contexts():
    task = noisy(5, 2)
    problem = TrainingProblem.of(task)
    dense = task.dense()
    for row in (0, 3, len(problem) - 1):
        place = int(np.flatnonzero((task.contexts == problem.contexts[row]).all(1))[0])
        span = slice(problem.starts[row], problem.starts[row + 1])
        assert problem.prior[row] == pytest.approx(task.prior[place])
        assert problem.probabilities[span] == pytest.approx(dense[place, problem.tokens[span]])
        assert dense[place].argmax() == problem.answers[row]


def test_a_drawn_data_set_is_fixed_and_reshuffled():
    problem = TrainingProblem.of(lookup(6))
    protocol = paper(batches=4, batch=8, epochs=3)
    data = Data(problem, protocol, seed=1)
    rows = data.rows(12).reshape(3, 32)
    first, second, third = (np.sort(epoch) for epoch in rows)
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)
    assert not np.array_equal(rows[0], rows[1])
    assert data.weights == pytest.approx(np.bincount(first, minlength=36) / 32)
    assert not np.array_equal(Data(problem, protocol, seed=2).rows(4), rows[0].reshape(4, 8))


def test_a_batch_larger_than_the_data_set_repeats_it():
    problem = TrainingProblem.of(lookup(6))
    data = Data(problem, paper(batches=1, batch=8, epochs=1, samples=3), seed=1)
    batches = data.rows(1)
    assert batches is not None
    (rows,) = batches
    assert len(rows) == 8
    assert set(rows) == set(np.flatnonzero(data.weights))


def test_samples_follow_the_prior():
    problem = TrainingProblem.of(noisy(5, 2))
    drawn = problem.draw(200_000, np.random.default_rng(0))
    share = np.bincount(drawn, minlength=len(problem)) / len(drawn)
    # Five standard deviations of a binomial share.
    assert (np.abs(share - problem.prior) <= 5 * np.sqrt(problem.prior / len(drawn))).all()


def test_learning_rates():
    released = learning_rates("linear-epochs", 64 * 64, 1e-2, 5e-4, 0, 64)
    assert released[0] == released[63] == pytest.approx(1e-2)
    assert released[-1] == pytest.approx(5e-4 + (1e-2 - 5e-4) / 64)
    assert len(np.unique(released)) == 64
    cosine = learning_rates("cosine", 1000, 2e-2, 0.0, 0.05, 1)
    assert cosine.max() == pytest.approx(2e-2)
    assert cosine.argmax() in (49, 50)
    assert cosine[0] == pytest.approx(2e-2 / 50)
    assert cosine[-1] < 1e-6
    assert (learning_rates("constant", 5, 1e-3, 0, 0, 1) == 1e-3).all()


def test_protocols_name_every_wrong_field():
    with pytest.raises(InputError, match="3 problems"):
        paper(peak=-1.0, beta1=2.0, colour="red")


def test_fast_takes_all_contexts_at_once_where_that_is_cheap():
    assert fast(SPEC, 2500).batch is None
    pairs = SPEC.model_copy(update={"vocab": 200})
    assert fast(pairs, 200**2, samples=2**16).batch is None
    assert fast(pairs, 200**2, samples=2**16).steps < fast(SPEC, 2500).steps
    few = SPEC.model_copy(update={"vocab": 1000})  # a list of pairs, not a grid of them
    triples = SPEC.model_copy(update={"context": 3})
    for spec, contexts, samples in ((pairs, 200**2, None), (few, 10**5, 10**5), (triples, 50**3, 10**5)):
        chosen = fast(spec, contexts, samples)
        assert chosen.batch is not None
        assert chosen.steps * chosen.batch >= 99 * contexts


def test_shortest_takes_most_steps_where_nearly_everything_is_recalled():
    overfull, nearly, roomy = (SPEC.model_copy(update={"dim": d, "head_dim": d, "heads": h}) for d, h in DIM_AND_HEADS)
    steps = [shortest(spec, 2500).steps for spec in (overfull, nearly, roomy)]
    assert steps[1] == max(steps) < fast(SPEC, 2500).steps
    assert shortest(overfull, 2500).focus > shortest(nearly, 2500).focus > shortest(roomy, 2500).focus
    narrow = SPEC.model_copy(update={"head_dim": 2})
    assert shortest(narrow, 2500) == fast(narrow, 2500)
