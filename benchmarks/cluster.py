"""A Ray cluster of two nodes on this machine: same table, lost nodes, what a task costs, what two workers gain.

    python benchmarks/cluster.py [table] [node] [overhead] [efficiency]

All four when none is named. The nodes have one core each. `table` trains a part of dana2025.fig1a here and there and
compares every number. `node` kills a node with SIGKILL while trials that wait a fifth of a second run, and counts those
that ran twice. `overhead` sends trials that do nothing, one a task. `efficiency` compares one worker with two: on
trials that train for a second or more, which other work on the machine slows, and on trials that wait for a second,
which it does not.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from rote.experiments.ledgers.ledger import Ledger
from rote.experiments.lookups.schedule import LookupSchedule
from rote.experiments.reproduce import run_schedule
from rote.experiments.runner import run
from rote.experiments.runs.merge import diff_runs
from rote.experiments.seeds import SeedTrial
from rote.experiments.token_schedule import RandomTables, TokenSchedule, training_record
from rote.experiments.trial import TokenTrial
from rote.models.attention_only import AttentionOnly
from rote.papers import figure_named
from rote.training.protocol import protocol_named

# The workers cannot import this file.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])

STEPS = 2500
"""Of the trials whose efficiency is measured: more than a second of processor."""
NODE = {"num_cpus": 1, "object_store_memory": 10**8}


@dataclass(frozen=True)
class Waiting:
    """Trials that wait, as a plan; where a folder is named each leaves a file there when it starts."""

    trials: int
    seconds: float
    calls: str | None = None
    identity = {"benchmark": "waiting"}  # noqa: RUF012
    about = {}  # noqa: RUF012
    adaptive = False

    @property
    def trainer(self) -> Waiting:
        return self

    def pending(self, rows: Any) -> list[SeedTrial]:
        return [SeedTrial(seed) for seed in range(self.trials) if SeedTrial(seed).key not in rows]

    def finished(self, rows: Any) -> Any:
        return rows

    def train(self, pending: Any, workers: int | None, progress: Any) -> Iterator[tuple[SeedTrial, Any, float]]:
        for trial in pending():
            if self.calls is not None:
                node = ray.get_runtime_context().get_node_id()
                (Path(self.calls) / f"{node}-{trial.seed}-{time.monotonic_ns()}").touch()
            time.sleep(self.seconds)
            yield trial, {}, 0.0


def table(cluster: Cluster, root: Path) -> None:
    """A cell of each series of fig1a's quick grid, as published but for fewer repeats."""
    plan = LookupSchedule.of(figure_named("dana2025.fig1a"), quick=True, repeats=1)
    for name, on in (("here", "here"), ("ray", cluster.address)):
        began = time.perf_counter()
        ended = run_schedule(plan, root / name, part="1/1", on=on)
        print(f"{name}: {len(ended.rows)} trials of dana2025.fig1a in {time.perf_counter() - began:.1f} s")
    compared = diff_runs(root / "here", root / "ray")
    print(f"the tables are {'the same' if compared.equal else 'NOT the same'}: {compared.same} trials alike")


def node(cluster: Cluster, root: Path) -> None:
    calls = root / "calls"
    calls.mkdir()
    doomed = cluster.add_node(**NODE)
    cluster.wait_for_nodes()

    def kill_while_it_works() -> None:
        while len(list(calls.glob(f"{doomed.node_id}-*"))) < 12:
            time.sleep(0.01)
        cluster.remove_node(doomed, allow_graceful=False)

    killer = threading.Thread(target=kill_while_it_works, daemon=True)
    killer.start()
    ended = run(Waiting(300, 0.2, str(calls)), root / "node", on=cluster.address)
    rows = Ledger.read(root / "node")[1]
    there, twice = len(list(calls.glob(f"{doomed.node_id}-*"))), len(list(calls.iterdir())) - 300
    print(
        f"a node {'NOT ' if killer.is_alive() else ''}killed after it had begun {there} trials: {len(rows)} of 300 "
        f"are in the ledger, {len(ended.failed)} failed, {twice} begun twice"
    )


def overhead(cluster: Cluster, root: Path) -> None:
    """One trial a task: a batch is never larger, since no trial has taken any time before the first ended."""
    from rote.experiments import ray_executor

    run(Waiting(20, 0.0), on=cluster.address)
    kept, tasks = (ray_executor.TASK_SECONDS, ray_executor.DRIVER_SECONDS), 300
    ray_executor.TASK_SECONDS = ray_executor.DRIVER_SECONDS = 0.0
    for folder, where in ((None, "in memory"), (root / "overhead", "with a ledger on disk")):
        began = time.perf_counter()
        run(Waiting(tasks, 0.0), folder, on=cluster.address)
        each = (time.perf_counter() - began) / tasks
        print(f"overhead: {1000 * each:.1f} ms a task of one trial that does nothing, {where}")
    ray_executor.TASK_SECONDS, ray_executor.DRIVER_SECONDS = kept
    began = time.perf_counter()
    run(Waiting(20_000, 0.0), on=cluster.address)
    print(f"overhead: {1e6 * (time.perf_counter() - began) / 20_000:.0f} us a trial in batches, in memory")


def efficiency(cluster: Cluster, root: Path) -> None:
    spec = AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=10, scale_scores=True)
    trials = [TokenTrial(spec, protocol_named("fast", spec, 2500, steps=STEPS), seed) for seed in range(16)]
    training = TokenSchedule({"benchmark": "efficiency"}, trials, RandomTables(), _recorded)
    for name, plan in (("wait a second", Waiting(16, 1.0)), ("train", training)):
        run(Waiting(8, 0.5), on=cluster.address, workers=2)
        clock = {}
        for workers in (1, 2):
            began = time.perf_counter()
            ended = run(plan, on=cluster.address, workers=workers)
            clock[workers] = time.perf_counter() - began
            seconds = [row.seconds for row in ended.rows.values()]
        took = f", {sum(seconds) / len(seconds):.2f} s of processor each" if any(seconds) else ""
        print(
            f"16 trials that {name}{took}: {clock[1]:.1f} s with one worker, {clock[2]:.1f} s with two, "
            f"efficiency {clock[1] / clock[2] / 2:.2f}; load {os.getloadavg()[0]:.1f}"
        )


def _recorded(trained: Any, task: Any) -> dict[str, Any]:
    return training_record(trained)


PARTS = {"table": table, "node": node, "overhead": overhead, "efficiency": efficiency}

if __name__ == "__main__":
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    started = Cluster(True, head_node_args={**NODE, "include_dashboard": False})
    try:
        started.add_node(**NODE)
        ray.init(address=started.address, log_to_driver=False)
        with tempfile.TemporaryDirectory() as folder:
            for part in sys.argv[1:] or PARTS:
                PARTS[part](started, Path(folder))
    finally:
        ray.shutdown()
        started.shutdown()
