"""Zero slack: exactly as many facts as Theorem 1 promises, in float32. Three tables, each also as JSON.

python benchmarks/interpolation.py seeds     ten seeds of each setting, every fact recalled or an error
python benchmarks/interpolation.py time      9,984 facts at d = 32 against float32 LU factorisations in the same run
python benchmarks/interpolation.py growth    5,000 to 50,000 facts at d = 32: seconds, memory, exponent of CPU time
python benchmarks/interpolation.py named     airports and wordnet, where their packages are installed
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import scipy.linalg
import torch
from rich.console import Console
from rich.table import Table

import rote
from rote.tasks import AssociationTask, Vocabulary

SETTINGS = [
    # vocab, context, dim, head_dim, facts = p, method
    (50, 2, 10, 10, 210, "dana2025.theorem1"),
    (100, 2, 16, 8, 2000, "dana2025.theorem1"),
    (300, 3, 20, 20, 5000, "dana2025.theorem1"),
    (400, 2, 24, 8, 20_000, "dana2025.theorem1"),
    (60, 2, 2, 2, 200, "dana2025.corollary1"),
]


def lookup(vocab: int, context: int, facts: int, seed: int) -> AssociationTask:
    """Distinct random contexts with random answers."""
    rng = np.random.default_rng(seed)
    numbers = rng.choice(vocab**context, facts, replace=False)
    contexts = np.stack([numbers // vocab**place % vocab for place in range(context)], 1)
    return AssociationTask(contexts, rng.integers(0, vocab, facts), Vocabulary.numbered(vocab))


def fewest(facts: int, dim: int, head_dim: int) -> dict[str, int]:
    """Sizes without slack: left open, the arrowhead would take a few heads more."""
    return {"dim": dim, "head_dim": head_dim, "heads": -(-(facts - dim) // head_dim)}


def timed_build(task: AssociationTask, method: str, **sizes: Any) -> dict[str, Any]:
    """Seconds of the whole of `rote.build`, its check of every fact included."""
    start = time.perf_counter()
    try:
        built = rote.build(task, method, **sizes)
    except rote.CheckFailed as error:
        return {"seconds": time.perf_counter() - start, "stored": 0, "failed": str(error)}
    seconds = time.perf_counter() - start
    certificate = built.certificate
    return {
        "seconds": seconds,
        "stored": certificate.recalled,
        "missed": certificate.missed,
        "guaranteed": certificate.guaranteed,
        "heads": built.model.spec.to_config().get("heads"),
        "min_margin": certificate.min_margin,
        "margin_rounding": certificate.margin_rounding,
        **{name: value for name, value in certificate.measured.items() if name != "seconds"},
        "phases": built.phases,
    }


def seeds(count: int) -> list[dict[str, Any]]:
    rows = []
    for vocab, context, dim, head_dim, facts, method in SETTINGS:
        runs = [
            timed_build(lookup(vocab, context, facts, seed), method, seed=seed, **fewest(facts, dim, head_dim))
            for seed in range(count)
        ]
        held = [run for run in runs if "failed" not in run]
        rows.append(
            {
                "N,S,d,k": f"{vocab},{context},{dim},{head_dim}",
                "facts = p": facts,
                "seeds": count,
                "complete": sum(run["stored"] == run["guaranteed"] == facts for run in held),
                "errors": count - len(held),
                "misses": sum(run["missed"] for run in held),
                "method": "/".join(sorted({run["method"] for run in held})),
                "redraws": sum(run["redraws"] for run in held),
                "worst condition": max((run["condition"] for run in held), default=math.inf),
                "least margin": min((run["min_margin"] for run in held), default=-math.inf),
                "rounding": max((run["margin_rounding"] for run in held), default=math.inf),
                "median s": float(np.median([run["seconds"] for run in runs])),
            }
        )
    return rows


def lu_seconds(order: int) -> dict[str, float]:
    """One float32 LU of this order by SciPy and by torch."""
    matrix = np.random.default_rng(0).standard_normal((order, order)).astype(np.float32)
    start = time.perf_counter()
    scipy.linalg.lu_factor(np.asfortranarray(matrix), overwrite_a=True, check_finite=False)
    middle = time.perf_counter()
    torch.linalg.lu_factor(torch.from_numpy(matrix))
    return {"scipy": middle - start, "torch": time.perf_counter() - middle}


def interleaved(rounds: int, facts: int = 9984, dim: int = 32) -> list[dict[str, Any]]:
    """LU, dense, LU, arrowhead, ... so that a slower spell of the machine falls on both sides."""
    rows = []
    for seed in range(rounds):
        for solve in ("dense", "arrowhead"):
            lu = lu_seconds(facts)
            run = timed_build(
                lookup(150, 2, facts, seed), "dana2025.theorem1", seed=seed, solve=solve, **fewest(facts, dim, dim)
            )
            rows.append(
                {
                    "round": seed,
                    "method": solve,
                    "stored": run["stored"],
                    "LU scipy s": lu["scipy"],
                    "LU torch s": lu["torch"],
                    "build s": run["seconds"],
                    "/ LU scipy": run["seconds"] / lu["scipy"],
                    "/ LU torch": run["seconds"] / lu["torch"],
                    "phases s": ", ".join(f"{name} {value:.1f}" for name, value in run.get("phases", {}).items()),
                }
            )
    return rows


def growth(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Each size in a process of its own, so that its peak memory is its own."""
    rows: list[dict[str, Any]] = []
    for facts in sizes:
        command = [sys.executable, __file__, "one", "--facts", str(facts)]
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if rows:
            before = rows[-1]
            longer = row["processor s"] / before["processor s"]
            row["exponent"] = math.log(longer) / math.log(facts / before["facts"])
        rows.append(row)
    return rows


def one(facts: int) -> dict[str, Any]:
    vocab = max(200, math.isqrt(facts) * 2)
    begun = time.process_time()
    run = timed_build(lookup(vocab, 2, facts, 0), "dana2025.theorem1", solve="arrowhead", **fewest(facts, 32, 16))
    return {
        "facts": facts,
        "vocab": vocab,
        "stored": run["stored"],
        "groups": run.get("groups"),
        "border": run.get("border"),
        "condition": run.get("condition"),
        "redraws": run.get("redraws"),
        "build s": run["seconds"],
        "processor s": time.process_time() - begun,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def named() -> list[dict[str, Any]]:
    rows = []
    for source in ("airports", "wordnet"):
        task = rote.facts(source)
        run = timed_build(task, "dana2025.theorem1")
        rows.append(
            {
                "facts": source,
                "keys": task.facts,
                "stored": run["stored"],
                "method": run.get("method"),
                "largest group": run.get("largest_group"),
                "border": run.get("border"),
                "condition": run.get("condition"),
                "heads": run.get("heads"),
                "least margin": run.get("min_margin"),
                "rounding": run.get("margin_rounding"),
                "build s": run["seconds"],
                "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
            }
        )
    return rows


def shown(rows: list[dict[str, Any]], title: str) -> Table:
    table = Table(title=title)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    for name in columns:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*[_text(row.get(name)) for name in columns])
    return table


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.1e}" if value and not 0.01 <= abs(value) < 10_000 else f"{value:.2f}"
    return "" if value is None else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["seeds", "time", "growth", "named", "one"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--facts", type=int, default=5000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.table == "one":
        print(json.dumps(one(given.facts)))
        return
    rows = {
        "seeds": lambda: seeds(given.seeds),
        "time": lambda: interleaved(given.rounds),
        "growth": lambda: growth((5000, 10_000, 20_000, 50_000)),
        "named": named,
    }[given.table]()
    if given.json:
        print(json.dumps(rows, indent=1))
    else:
        Console(width=180).print(shown(rows, given.table))


if __name__ == "__main__":
    main()
