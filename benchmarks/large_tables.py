"""Tables of many rows: 8-letter ids to 40 categories, built by default, every fact asked, verified, and resumed.

    python benchmarks/large_tables.py                       # 100,000, 300,000 and 1,000,000 rows
    python benchmarks/large_tables.py --rows 100000 --kill

Each command runs in a process of its own, whose CPU time (all threads) and peak memory are measured. Questions per CPU
second are those of `rote recall`, which runs the model on every fact, without reading the table. "Without start" leaves
out what a table of 20 rows takes: Python's start and imports. Build times are the least of `--rounds` builds, since the
start is most of the smallest one. With `--kill`, the build of the largest table is killed (SIGKILL) when half of its
groups are solved, started again, and its weights are compared with those of the undisturbed build.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

LETTERS, LENGTH, CATEGORIES = 26, 8, 40


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    cpu: float
    wall: float
    gigabytes: float


def write_table(path: Path, rows: int, seed: int = 1) -> None:
    """Distinct random ids with random categories."""
    generator = np.random.default_rng(seed)
    ids = np.unique(generator.integers(LETTERS**LENGTH, size=rows + rows // 50 + 10))
    ids = generator.permutation(ids)[:rows]
    letters = 97 + ids[:, None] // LETTERS ** np.arange(LENGTH) % LETTERS
    keys = letters.astype("<u4").view(f"<U{LENGTH}").ravel()
    answers = generator.integers(CATEGORIES, size=rows)
    with path.open("w") as file:
        file.write("id,category\n")
        file.writelines(f"{key},category {answer}\n" for key, answer in zip(keys, answers, strict=True))


def rote(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "rote", *map(str, words)]


def run(*words: str | Path) -> tuple[str, Cost]:
    """The output of a command, and what it took; its process is a child of a small one, so that its peak is its own."""
    code = (
        "import json, resource, subprocess, sys, time\n"
        "start = time.perf_counter()\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "wall = time.perf_counter() - start\n"
        "print(json.dumps([done.returncode, done.stdout, used.ru_utime + used.ru_stime, wall, used.ru_maxrss]))"
    )
    done = subprocess.run([sys.executable, "-c", code, *rote(*words)], check=True, stdout=subprocess.PIPE, text=True)
    status, output, cpu, wall, kilobytes = json.loads(done.stdout)
    if status:
        raise SystemExit(f"{' '.join(map(str, words))}: exit {status}")
    return output, Cost(cpu, wall, kilobytes * 1024 / 1e9)


def least(rounds: int, *words: str | Path) -> tuple[str, Cost]:
    """The command that took least CPU time of some equal ones; the folder that they write is replaced."""
    return min((run(*words, "--force") for _ in range(rounds)), key=lambda ended: ended[1].cpu)


def questions_per_second(model: Path, table: Path) -> float:
    """Questions per CPU second of the forward pass over every fact."""
    code = (
        "import sys, time, rote\n"
        "model, task = rote.load(sys.argv[1]).model, rote.facts(sys.argv[2])\n"
        "start = time.process_time()\n"
        "seen = rote.recall(model, task)\n"
        "print(task.facts / (time.process_time() - start), seen.recalled)"
    )
    found = subprocess.run([sys.executable, "-c", code, str(model), str(table)], check=True, stdout=subprocess.PIPE)
    rate, recalled = found.stdout.split()
    print(f"    asked again: {int(recalled):,} recalled", file=sys.stderr)
    return float(rate)


def killed_and_resumed(table: Path, undisturbed: Path, folder: Path) -> str:
    """Kill a build when half of its groups are solved, start it again, and compare the weights."""
    output = folder / "killed"
    groups = json.loads((undisturbed / "config.json").read_text())["spec"]["groups"]
    parts = folder / ".killed.resume"
    process = subprocess.Popen(rote("build", table, "-o", output), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and 16 * kept_parts(parts) < groups / 2:
        time.sleep(0.002)
    if process.poll() is not None:
        return "the build ended before half of its groups were seen; run it again"
    process.kill()
    process.wait()
    kept, begun = kept_parts(parts), output.exists()
    run("build", table, "-o", output)
    same = (output / "model.safetensors").read_bytes() == (undisturbed / "model.safetensors").read_bytes()
    left = parts.exists()
    return (
        f"killed with {kept} of {-(-groups // 16)} parts kept, model folder {'written' if begun else 'absent'}; "
        f"resumed: weights {'equal' if same else 'DIFFERENT'}, parts {'left' if left else 'removed'}"
    )


def kept_parts(folder: Path) -> int:
    return len(list(folder.glob("*.safetensors")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("| rows | build CPU s | us per row | without start | peak GB | parameters | weights B/fact | folder B/fact | "
          "verify CPU s | peak GB | questions per CPU s |\n|" + "---|" * 11)  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "few.csv", 20)
        few = folder / "few.csv"
        _, start = least(given.rounds, "build", few, "-o", folder / "few", "--method", "rote.memory_layer", "--json")
        table = model = folder
        for rows in sorted(given.rows):
            table, model = folder / f"ids{rows}.csv", folder / f"model{rows}"
            write_table(table, rows)
            output, built = least(given.rounds, "build", table, "-o", model, "--json")
            summary = json.loads(output)
            if summary["recalled"] != rows:
                raise SystemExit(f"{rows} rows: {summary['missed']} missed")
            _, verified = run("verify", model, table)
            rate = questions_per_second(model, table)
            print(
                f"| {rows:,} | {built.cpu:.1f} | {1e6 * built.cpu / rows:.1f} "
                f"| {1e6 * (built.cpu - start.cpu) / rows:.1f} | {built.gigabytes:.2f} "
                f"| {summary['parameters']:,} | {summary['bytes'] / rows:.3f} | {summary['folder_bytes'] / rows:.2f} "
                f"| {verified.cpu:.1f} | {verified.gigabytes:.2f} | {rate:,.0f} |",
                flush=True,
            )
        if given.kill:
            print(killed_and_resumed(table, model, folder))


if __name__ == "__main__":
    main()
