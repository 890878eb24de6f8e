"""Where trials run: what is sent, in what batches, and what is refused."""

from __future__ import annotations

import pytest

from rote.errors import InputError
from rote.experiments import ray_executor
from rote.experiments.executor import LocalExecutor, executor
from rote.experiments.ray_executor import _Tasks, trained_batch
from rote.experiments.token_schedule import RandomTables, TokenSchedule, training_record
from rote.experiments.trial import TokenTrial
from rote.models.attention_only import AttentionOnly
from rote.training.failure import Failed
from rote.training.protocol import paper

SPEC = AttentionOnly(vocab=8, context=2, dim=3, head_dim=3, heads=2, scale_scores=True)
TRIALS = [TokenTrial(SPEC, paper(batches=4, batch=16, epochs=2), seed) for seed in range(3)]
PLAN = TokenSchedule({"test": "where"}, TRIALS, RandomTables(), lambda trained, task: training_record(trained))


class FakeRay:
    """As much of Ray as sending a task takes."""

    def put(self, value):
        return value

    def remote(self, **options):
        class Task:
            def __init__(self, function):
                self.function = function

            def remote(self, *arguments):
                return object()

        return Task

    def cluster_resources(self):
        return {"CPU": 4.0}


def test_places_are_named():
    assert executor("here", 2) == LocalExecutor(2)
    for on in ("mars", "ray:", "host:", ":6379", "ray://", "host:port"):
        with pytest.raises(InputError, match="is neither here, ray"):
            executor(on)
    with pytest.raises(InputError, match="workers=0"):
        executor("here", 0)


def test_what_is_sent_holds_no_list_of_trials():
    assert PLAN.trainer.trials == ()


def test_a_batch_gives_its_results_in_order_and_fails_trial_by_trial():
    results, seconds = trained_batch(PLAN.trainer, TRIALS, ray_executor.__version__)
    assert [result["seed"] for result, _ in results] == [0, 1, 2]
    assert seconds > 0

    class Breaking:
        def train(self, pending, workers, progress):
            for trial in pending():
                if trial.seed == 1:
                    raise MemoryError("no room")
                yield trial, {"seed": trial.seed}, 0.0

    outcomes = [result for result, _ in trained_batch(Breaking(), TRIALS, ray_executor.__version__)[0]]
    assert [isinstance(outcome, Failed) for outcome in outcomes] == [False, True, False]


def test_a_node_with_another_version_is_refused():
    with pytest.raises(InputError, match=r"a node of the cluster has rote .* and the driver 9\.9"):
        trained_batch(PLAN.trainer, TRIALS, "9.9")


@pytest.mark.parametrize(
    ("seconds", "waiting", "size"),
    [(None, 1000, 1), (10.0, 1000, 1), (0.1, 1000, 30), (0.1, 64, 4), (1e-9, 10**6, 62_500)],
)
def test_batches_take_seconds_and_leave_work_for_other_workers(seconds, waiting, size):
    tasks = _Tasks(FakeRay(), PLAN.trainer, None)
    assert tasks.send([]) == []
    tasks.seconds = seconds
    assert tasks._batch(waiting) == size


def test_two_tasks_a_core_are_out_at_a_time():
    tasks = _Tasks(FakeRay(), PLAN.trainer, None)
    trials = [TokenTrial(SPEC, TRIALS[0].protocol, seed) for seed in range(20)]
    assert [trial.seed for trial in tasks.send(trials)] == list(range(8, 20))
    assert {key.seed for key in tasks.out} == set(range(8))
