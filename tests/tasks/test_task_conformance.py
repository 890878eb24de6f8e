"""What every kind of task must satisfy. A new one adds a `Case` and inherits every check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from rote.errors import InputError
from rote.tasks import AssociationTask, DistributionTask, Spread, Vocabulary
from rote.tasks.facts import facts
from rote.tasks.generators import random_associations, random_distributions, random_vectors


@dataclass(frozen=True)
class Case:
    """A task, the same task with one answer changed, and its ceiling and entropy worked out by plain loops."""

    make: Callable[[], Any]
    change: Callable[[Any], Any]
    ceiling: Callable[[Any], float]
    bits: Callable[[Any], float | None]


def other_answer(task: AssociationTask) -> AssociationTask:
    answers = task.answers.copy()
    answers[3] = (answers[3] + 1) % task.vocab
    return replace(task, answers=answers)


def other_probability(task: DistributionTask) -> DistributionTask:
    probabilities = task.probabilities.copy()
    probabilities[2] *= 1.001
    return replace(task, probabilities=probabilities)


def other_token(task: DistributionTask) -> DistributionTask:
    tokens = task.tokens.copy()
    tokens[0] = (tokens[0] + 1) % task.vocab
    return replace(task, tokens=tokens)


def other_label(task: Any) -> Any:
    return replace(task, labels=(task.labels + np.eye(1, task.facts, 5, dtype=np.int32)[0]))


def other_target(task: Any) -> Any:
    return replace(task, targets=task.targets + np.eye(task.facts, task.outputs) * 1e-6)


def shannon(values: list[float]) -> float:
    total = sum(values)
    return -sum(value / total * np.log2(value / total) for value in values if value)


def loop_ceiling(task: AssociationTask) -> float:
    by_key: dict[tuple, dict[str, int]] = {}
    for row in range(task.facts):
        answers = by_key.setdefault(task[row].key, {})
        answers[task[row].answer] = answers.get(task[row].answer, 0) + 1
    return sum(max(answers.values()) for answers in by_key.values()) / task.facts


def loop_bits(task: AssociationTask) -> float:
    answers = [task[row].answer for row in range(task.facts)]
    keys = {task[row].key for row in range(task.facts)}
    return shannon([answers.count(answer) for answer in set(answers)]) * len(keys)


def spread_ceiling(task: DistributionTask) -> float:
    return sum(task.prior[row] * max(task[row].answers.values()) for row in range(task.facts))


def spread_bits(task: DistributionTask) -> float:
    """Mutual information of context and next token, times contexts."""
    dense = task.dense()
    marginal = shannon(list(task.prior @ dense))
    inside = sum(prior * shannon(list(row)) for prior, row in zip(task.prior, dense, strict=True))
    return (marginal - inside) * task.facts


def contradictory() -> AssociationTask:
    rows = [(("a", "b"), "x"), (("a", "b"), "x"), (("a", "b"), "y"), (("b", "a"), "z"), (("c", "a"), "x")]
    return AssociationTask.from_facts(rows)


CASES = {
    "associations": Case(lambda: random_associations(9, 3, 40, seed=1), other_answer, loop_ceiling, loop_bits),
    "contradictory": Case(contradictory, other_answer, loop_ceiling, loop_bits),
    "countries": Case(lambda: facts("countries"), other_answer, loop_ceiling, loop_bits),
    "distributions": Case(
        lambda: random_distributions(7, 2, 30, entropy=1.2, prior="zipf", seed=2),
        other_probability,
        spread_ceiling,
        spread_bits,
    ),
    "look-up with a prior": Case(
        lambda: random_distributions(7, 2, 30, prior="zipf", seed=2), other_token, spread_ceiling, spread_bits
    ),
    "labels": Case(
        lambda: random_vectors(20, 3, 4, classes=5, seed=3),
        other_label,
        lambda task: 1.0,
        lambda task: 20 * shannon([int((task.labels == label).sum()) for label in range(5)]),
    ),
    "shared": Case(
        lambda: random_vectors(20, 3, 4, classes=5, shared=True, seed=3),
        other_label,
        lambda task: 1.0,
        lambda task: 20 * shannon([int((task.labels == label).sum()) for label in range(5)]),
    ),
    "targets": Case(
        lambda: random_vectors(20, 3, 4, targets=2, seed=3), other_target, lambda task: 1.0, lambda task: None
    ),
}

WORDED = ["associations", "contradictory", "countries", "distributions", "look-up with a prior"]


@pytest.fixture(params=CASES)
def case(request) -> Case:
    return CASES[request.param]


@pytest.fixture(params=WORDED)
def worded(request) -> Any:
    return CASES[request.param].make()


def test_made_twice_is_the_same(case):
    assert case.make().fingerprint == case.make().fingerprint


def test_fingerprint_ignores_the_order_of_rows(case):
    task = case.make()
    order = np.random.default_rng(0).permutation(task.facts)
    assert not np.array_equal(order, np.arange(task.facts))
    assert task.take(order).fingerprint == task.fingerprint


def test_fingerprint_sees_one_changed_answer(case):
    task = case.make()
    assert case.change(task).fingerprint != task.fingerprint


def test_fingerprint_sees_a_missing_fact(case):
    task = case.make()
    assert task.take(np.arange(task.facts - 1)).fingerprint != task.fingerprint


def test_ceiling_is_what_counting_gives(case):
    task = case.make()
    assert task.ceiling == pytest.approx(case.ceiling(task), abs=1e-12)


def test_entropy_is_what_the_definition_gives(case):
    task = case.make()
    expected = case.bits(task)
    assert task.entropy_bits == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-9))


def test_streamed_rows_are_the_whole(case):
    task = case.make()
    whole = task.inputs(slice(None))
    parts = [task.inputs(slice(start, start + 7)) for start in range(0, task.facts, 7)]
    if isinstance(whole, tuple):
        for place in range(len(whole)):
            assert np.array_equal(np.concatenate([part[place] for part in parts]), whole[place])
    else:
        assert np.array_equal(np.concatenate(parts), whole)


def test_recall_asks_for_one_answer_a_row_or_the_task_says_why_not(case):
    task = case.make()
    if task.kind == "vectors" and task.labels is None:
        with pytest.raises(InputError, match="measure its error"):
            task.answers_to_recall()
        return
    assert task.answers_to_recall().shape == (task.facts,)
    right = len(task.answers_to_recall()) * task.recall_ceiling
    assert right == pytest.approx(round(right))
    assert task.majority().facts == task.distinct_keys


def test_keys_are_recalled_all_or_none_with_their_rows(case):
    task = case.make()
    assert task.recalled_keys(np.array([], dtype=np.int64)) == task.distinct_keys
    assert task.recalled_keys(np.arange(task.facts)) == 0


def test_rows_of_foreign_tokens_are_told_from_the_others(worded):
    assert worded.known_rows(worded.vocabulary).all()
    foreign = worded.vocabulary.tokens[int(worded.contexts[-1, 0])]
    others = Vocabulary(token for token in worded.vocabulary.tokens if token != foreign)
    rows = [worded[row] for row in range(worded.facts)]
    words = [{*row.key, *(row.answers if isinstance(row, Spread) else [row.answer])} for row in rows]
    assert worded.known_rows(others).tolist() == [foreign not in row for row in words]


def test_length_and_representation(case):
    task = case.make()
    assert len(task) == task.facts
    assert str(task.facts) in repr(task)


def test_fingerprint_ignores_the_order_of_the_vocabulary(worded):
    shuffled = np.random.default_rng(1).permutation(worded.vocab)
    other = Vocabulary([*worded.vocabulary.words(shuffled), "a token no fact uses"])
    moved = worded.in_vocabulary(other)
    assert moved.fingerprint == worded.fingerprint
    assert not np.array_equal(moved.contexts, worded.contexts)


def test_there_and_back_in_another_vocabulary(worded):
    other = Vocabulary(reversed(worded.vocabulary.tokens))
    back = worded.in_vocabulary(other).in_vocabulary(worded.vocabulary)
    assert np.array_equal(back.contexts, worded.contexts)
    assert [str(back[row]) for row in range(back.facts)] == [str(worded[row]) for row in range(worded.facts)]
    assert worded.in_vocabulary(worded.vocabulary) is worded


def test_a_vocabulary_that_lacks_a_token_names_it(worded):
    lacking = worded.vocabulary.tokens[int(worded.contexts[0, 0])]
    other = Vocabulary(token for token in worded.vocabulary.tokens if token != lacking)
    with pytest.raises(InputError, match="unknown token") as error:
        worded.in_vocabulary(other)
    assert repr(lacking) in str(error.value)


def test_words_give_the_task_back(worded):
    if isinstance(worded, AssociationTask):
        again = AssociationTask.from_facts([worded[row] for row in range(worded.facts)])
    else:
        rows = [
            (worded[row].key, answer, share * worded.prior[row])
            for row in range(worded.facts)
            for answer, share in worded[row].answers.items()
        ]
        again = DistributionTask.from_weighted_facts(rows)
    assert again.fingerprint == worded.fingerprint


def test_shape_counts_what_occurs(worded):
    table = worded if isinstance(worded, AssociationTask) else worded.likeliest()
    assert worded.shape.associations == len({tuple(row) for row in worded.contexts.tolist()})
    assert worded.shape.vocab == worded.vocab
    assert worded.shape.context == worded.context
    assert worded.shape.key_tokens == len(set(worded.contexts.reshape(-1).tolist()))
    assert worded.shape.last_tokens == len(set(worded.contexts[:, -1].tolist()))
    assert worded.shape.answers == len(set(table.answers.tolist()))
    assert worded.shape.bits == worded.entropy_bits


def test_majority_keeps_the_commonest_answer():
    majority = contradictory().majority()
    assert [str(majority[row]) for row in range(majority.facts)] == ["a b -> x", "b a -> z", "c a -> x"]
    assert majority.ceiling == 1.0


def test_likeliest_and_dense_agree_with_the_rows():
    task = random_distributions(6, 2, 20, entropy=1.0, seed=4)
    for row in range(task.facts):
        answers = task[row].answers
        assert task.likeliest()[row].answer == max(answers, key=answers.__getitem__)
        expected = [answers.get(token, 0.0) for token in task.vocabulary.tokens]
        assert np.array_equal(task.dense(slice(row, row + 1))[0], expected)
    assert np.allclose(task.dense().sum(1), 1)
    assert task.dense(slice(5, 5)).shape == (0, 6)


def test_equal_inputs_with_different_labels_lower_a_vector_tasks_ceiling():
    task = random_vectors(4, 2, 3, classes=9, shared=True, seed=1)
    queries = task.queries.copy()
    queries[1] = queries[2] = queries[0]
    labels = np.array([1, 1, 2, 3])
    assert replace(task, queries=queries, labels=labels).ceiling == pytest.approx(3 / 4)
    fresh = random_vectors(4, 2, 3, classes=9, seed=1)
    assert replace(fresh, queries=queries, labels=labels).ceiling == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AssociationTask.from_facts([]), "no facts"),
        (lambda: AssociationTask.from_facts([(("a",), "x"), (("a", "b"), "x")]), "1 to 2 tokens; pad"),
        (lambda: AssociationTask(np.zeros((2, 2), int), np.zeros(3, int), Vocabulary("ab")), "2 contexts but 3"),
        (lambda: AssociationTask(np.full((2, 2), 2), np.zeros(2, int), Vocabulary("ab")), "must lie in 0..1"),
        (lambda: AssociationTask(np.zeros((2, 2)), np.zeros(2, int), Vocabulary("ab")), "are integers"),
        (lambda: AssociationTask(np.zeros(2, int), np.zeros(2, int), Vocabulary("ab")), "2 dimensions"),
        (lambda: Vocabulary(["a", "b", "a"]), "'a' appears twice"),
        (lambda: DistributionTask.from_weighted_facts([(("a",), "b", -1.0)]), "not negative"),
        (lambda: DistributionTask.from_weighted_facts([(("a",), "b", float("nan"))]), "finite"),
        (lambda: DistributionTask.from_weighted_facts([(("a",), "b", 0.0)]), "every weight is zero"),
        (lambda: DistributionTask.from_dense(np.zeros((2, 1), int), np.ones((2, 2))), "appears twice"),
        (lambda: DistributionTask.from_dense(np.array([[0], [1]]), np.eye(2)[:1]), "2 contexts but"),
        (lambda: DistributionTask.from_dense(np.array([[0], [1]]), np.array([[1, 0], [0, 0]])), "no next token"),
    ],
)
def test_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
