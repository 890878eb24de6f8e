"""Trials on a Ray cluster of two nodes on this machine: the same table, whatever dies meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rote.errors import InputError
from rote.experiments.ledgers.ledger import Ledger
from rote.experiments.runner import run
from rote.experiments.runs.merge import diff_runs
from rote.experiments.sweep import sweep
from rote.experiments.token_schedule import RandomTables, TokenSchedule, training_record
from rote.experiments.trial import TokenTrial, Trial
from rote.models.attention_only import AttentionOnly
from rote.training.protocol import paper

ray = pytest.importorskip("ray")

# The workers cannot import this file.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])

pytestmark = pytest.mark.filterwarnings("ignore")

PROTOCOL = paper(batches=4, batch=16, epochs=2)


def recorded(trained, task):
    return training_record(trained)


def plan_of(seeds, heads=(1, 2), recorded=recorded):
    specs = [AttentionOnly(vocab=8, context=2, dim=3, head_dim=3, heads=h, scale_scores=True) for h in heads]
    trials = [TokenTrial(spec, PROTOCOL, seed) for spec in specs for seed in range(seeds)]
    return TokenSchedule({"test": "ray"}, trials, RandomTables(), recorded)


def lasting(ended):
    return {key: {**row.result, "seconds": 0} for key, row in ended.rows.items()}


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    small = {"num_cpus": 1, "object_store_memory": 10**8}
    started = Cluster(True, head_node_args={**small, "include_dashboard": False})
    try:
        started.add_node(**small)
        # Connected once: else every run would connect, and have its workers started anew.
        ray.init(address=started.address, log_to_driver=False)
        yield started
    finally:
        ray.shutdown()
        started.shutdown()


def test_the_table_is_that_of_this_machine(cluster, tmp_path):
    here, there = run(plan_of(6), workers=1), run(plan_of(6), tmp_path, on=cluster.address)
    assert lasting(there) == lasting(here)
    assert list(there.rows) == list(here.rows)
    assert run(plan_of(6), tmp_path, on=cluster.address).trained == 0


@dataclass(frozen=True)
class Slow:
    """A trainer of trials that take a while, and do what they are told."""

    calls: str

    def train(self, pending, workers, progress) -> Iterator:
        from rote.training.failure import Failed

        for trial in pending():
            node = ray.get_runtime_context().get_node_id()
            (Path(self.calls) / f"{node}-{trial.seed}-{time.monotonic_ns()}").touch()
            time.sleep(0.2)
            if trial.seed == 3:
                yield trial, Failed(MemoryError("cannot have so much")), 0.0
            elif trial.seed == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            else:
                yield trial, {"seed": trial.seed}, 0.2


@dataclass(frozen=True)
class SlowTrial(Trial):
    seed: int

    @property
    def cell(self):
        return {}


@dataclass(frozen=True)
class SlowPlan:
    trainer: Slow
    seeds: tuple[int, ...]
    identity = {"test": "slow"}  # noqa: RUF012
    about = {}  # noqa: RUF012
    adaptive = False

    def pending(self, rows):
        return [SlowTrial(seed) for seed in self.seeds if SlowTrial(seed).key not in rows]

    def finished(self, rows):
        return {key: rows[key] for key in sorted(rows)}


def test_a_trial_that_fails_or_kills_its_worker_is_recorded_and_the_others_go_on(cluster, tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()
    ended = run(SlowPlan(Slow(str(calls)), (2, 3, 4, 5, 6)), tmp_path / "run", on=cluster.address)
    assert [key.seed for key in ended.rows] == [2, 4, 6]
    reasons = {failed.key.seed: failed.reason for failed in ended.failed}
    assert reasons[3] == "MemoryError: cannot have so much"
    assert "worker died 3 times" in reasons[5]
    with Ledger.reading(tmp_path / "run") as ledger:
        assert [failed.key.seed for failed in ledger.failures()] == [3, 5]


def test_a_node_that_is_killed_costs_its_running_batches_alone(cluster, tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()
    node = cluster.add_node(num_cpus=1, object_store_memory=10**8)
    cluster.wait_for_nodes()

    def kill_while_it_works() -> None:
        while not list(calls.glob(f"{node.node_id}-*")):
            time.sleep(0.01)
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill_while_it_works, daemon=True)
    killer.start()
    seeds = tuple(range(10, 46))
    ended = run(SlowPlan(Slow(str(calls)), seeds), tmp_path / "run", on=cluster.address)
    killer.join(timeout=10)
    assert not killer.is_alive(), "the node was killed"
    assert [key.seed for key in ended.rows] == list(seeds)
    assert not ended.failed
    started = [path.name.split("-")[1] for path in calls.iterdir()]
    again = len(started) - len(seeds)
    assert 1 <= again <= 15, "what had begun on it, a batch of three seconds at most, ran twice"


def test_a_driver_that_is_killed_goes_on_from_its_ledger(cluster, tmp_path):
    grid, folder = {"vocab": 8, "dim": 3, "heads": "1:4"}, tmp_path / "run"
    words = ["sweep", "--vocab", "8", "--dim", "3", "--heads", "1:4", "--seeds", "10", "--steps", "1000"]
    command = [sys.executable, "-m", "rote", *words, "--on", cluster.address, "-o", str(folder)]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while driver.poll() is None and time.monotonic() < deadline and trials_in(folder) < 3:
        time.sleep(0.02)
    driver.kill()
    driver.wait()
    before = trials_in(folder)
    assert 3 <= before < 40
    resumed = sweep(grid, seeds=10, steps=1000, folder=folder, on=cluster.address)
    assert (resumed.trained, len(resumed.rows)) == (40 - before, 40)
    sweep(grid, seeds=10, steps=1000, folder=tmp_path / "here", workers=1)
    assert diff_runs(folder, tmp_path / "here").equal


def trials_in(folder: Path) -> int:
    try:
        with Ledger.reading(folder, whole=False) as ledger:
            return ledger.overview().trials
    except InputError:
        return 0


def test_seeds_of_one_model_are_trained_there_too(cluster):
    import rote

    spec = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
    facts = "random:vocab=6,context=2,facts=9,seed=1"
    here, there = (rote.train_best(facts, spec, seeds=2, steps=50, on=on) for on in ("here", cluster.address))
    assert here.certificate == there.certificate
    assert [model.loss for model in here.models] == [model.loss for model in there.models]
