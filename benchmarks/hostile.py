"""Twenty thousand hostile folders, exports, ledgers and requests: nothing of theirs runs, hangs, grows or stays.

    python benchmarks/hostile.py [-o FILE] [--only SURFACE] [COUNT]

Cases of tests/hostile, each drawn from its own seed, under a watch that counts code that ran (planted Python trips a
wire, and so does any process that is started), tracebacks, attempts over 5 s of CPU time or 1 GB, files left behind and
control characters printed. For the page, the time and memory of its worker processes count. Batches run in processes
of their own, and what became of each case is appended to FILE (hostile.jsonl) at once: the same command resumes. Exit 1
if there was any flaw.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

COUNT = 20_000
BATCH = 4000
SHARES = {
    "strangers' folders": 0.3, "strangers' models": 0.1, "folders": 0.1, "exports": 0.15, "ledgers": 0.15,
    "page": 0.15, "tables": 0.05,
}  # fmt: skip
KINDS = ("code", "traceback", "hangs", "takes", "leaves", "prints")
"""First words of what the watch reports."""


def main(words: list[str]) -> int:
    if words[:1] == ["--batch"]:
        return _batch(words[1], int(words[2]), int(words[3]))
    output = Path(words.pop(words.index("-o") + 1)) if "-o" in words else Path("hostile.jsonl")
    only = words.pop(words.index("--only") + 1) if "--only" in words else None
    count = int(words[-1]) if words and words[-1].isdigit() else COUNT
    done = _read(output)
    for name, share in SHARES.items():
        for start in range(0, round(count * share) if only in (None, name) else 0, BATCH):
            cases = range(start, min(start + BATCH, round(count * share)))
            missing = [case for case in cases if f"{name}:{case}" not in done]
            if missing:
                _run(name, missing[0], cases.stop, output)
                print(f"{name}: {cases.stop:,}", file=sys.stderr, flush=True)
    return _table(_read(output))


def _run(name: str, start: int, stop: int, output: Path) -> None:
    """Run cases in a process of their own, and append each outcome as it comes."""
    command = [sys.executable, __file__, "--batch", name, str(start), str(stop)]
    with (
        output.open("a", encoding="utf-8", buffering=1) as file,
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as batch,
    ):
        for line in batch.stdout or ():
            if line.startswith("{"):
                file.write(line)
        if batch.wait():
            errors.seek(0)
            case = {"case": f"{name}:{start}-", "flaws": [f"traceback of the batch: {errors.read()[-400:]}"]}
            file.write(json.dumps({**case, "accepted": False, "seconds": 0, "memory": 0}) + "\n")


def _read(path: Path) -> dict[str, dict]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {row["case"]: row for row in map(json.loads, lines)}


def _batch(name: str, start: int, stop: int) -> int:
    import os
    import warnings

    from hostile.surfaces import surfaces
    from hostile.watch import limit_memory, watched

    warnings.simplefilter("ignore")
    os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
    with tempfile.TemporaryDirectory() as place:
        os.environ["HOME"] = place
        (surface,) = surfaces(Path(place) / "store", name)
        limit_memory()
        for case in range(start, stop):
            verdict = watched(surface, case, Path(place) / "scratch")
            print(json.dumps(vars(verdict)), flush=True)
    return 0


def _table(rows: dict[str, dict]) -> int:
    print(
        "| surface | inputs | rejected | code ran | tracebacks | over 5 s | over 1 GB | files left | controls printed |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    names = list(dict.fromkeys(case.partition(":")[0] for case in rows))
    flawed = 0
    for name in [*names, "all"]:
        own = [row for case, row in rows.items() if name in ("all", case.partition(":")[0])]
        kinds = Counter(flaw.split()[0].rstrip(":") for row in own for flaw in row["flaws"])
        flawed = sum(bool(row["flaws"]) for row in own)
        rejected = sum(not row["accepted"] for row in own)
        print(f"| {name} | {len(own):,} | {rejected:,} | " + " | ".join(str(kinds[kind]) for kind in KINDS) + " |")
    slowest = max((row["seconds"] for row in rows.values()), default=0)
    largest = max((row["memory"] for row in rows.values()), default=0)
    print(f"\nslowest {slowest:.1f} CPU seconds, largest {largest / 1e6:,.0f} MB")
    for case, row in rows.items():
        for flaw in row["flaws"]:
            print(f"{case}: {flaw}", file=sys.stderr)
    return 1 if flawed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
