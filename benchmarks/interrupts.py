"""Ctrl-C and SIGTERM at random moments of every long command: does it end in two seconds, in one message, cleanly?

    python benchmarks/interrupts.py [--each 20] [--only NAME] [--seed 0]

Each command is started as a user starts it (a new process, imports included) and gets a signal at a random moment. It
must end within two seconds with exit code 130 or 143, or have ended by itself; say one line on standard error, which is
no traceback; and leave nothing that is unfinished: no hidden file or folder, no process, every model folder, export and
table complete. Exit 1 if a single case fails. Signals that arrive in the first tenth of a second, before the Python
interpreter has reached rote's first line, are not counted: they are not rote's to answer.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "lm"))

WITHIN = 2.0
"""Seconds from the signal to the end of the process."""
BEFORE = 0.1
"""Seconds in which the interpreter itself starts."""
SMALL = "random:vocab=20,context=2,facts=200,seed=1"
SIZES = ["--vocab", "8", "--dim", "4", "--head-dim", "2"]
COMMANDS: dict[str, list[str]] = {
    "demo": ["demo", "-o", "OUT"],
    "plan": ["plan", "countries"],
    "build": ["build", "countries", "-o", "OUT"],
    "ask": ["ask", "MODEL", "1", "2"],
    "recall": ["recall", "MODEL", SMALL],
    "verify": ["verify", "MODEL"],
    "inspect": ["inspect", "MODEL"],
    "report": ["report", "MODEL", "RUN", "-o", "OUT/report.html", "--markdown", "OUT/paper"],
    "train": ["train", SMALL, "--dim", "6", "--heads", "6", "--seeds", "6", "--steps", "4000", "-o", "OUT"],
    "edit": ["edit", "COUNTRIES", "--set", "capital France=Lyon", "-o", "OUT"],
    "diff": ["diff", "COUNTRIES", "COUNTRIES"],
    "graft": ["graft", "TINY", "CAPITALS", "--template", "The capital of {country} is", "-o", "OUT"],
    "export": ["export", "MODEL", "--to", "huggingface", "-o", "OUT"],
    "sweep": ["sweep", *SIZES, "--heads", "1:8", "--seeds", "20", "--steps", "2000", "-o", "OUT"],
    "reproduce": ["reproduce", "dana2025.fig4", "--quick", "-o", "OUT"],
    "capacity": ["capacity", *SIZES, "--heads", "4", "--by", "training"],
    "runs fit": ["runs", "fit", "RUN"],
    "runs export": ["runs", "export", "RUN", "-o", "OUT/table.parquet"],
    "runs merge": ["runs", "merge", "PART1", "PART2", "-o", "OUT"],
    "lm capacity": ["lm", "capacity", "gpt2", "--vocab", "16", "--steps", "400", "-o", "OUT"],
    "lm assumptions": ["lm", "assumptions", "LLAMA"],
    "suite": ["suite", SMALL, "--loads", "0.5", "--seeds", "1", "-o", "OUT"],
    "serve": ["serve", "RUN", "--port", "0"],
    "doctor": ["doctor"],
}
"""Commands, with OUT for what they write and names in capitals for what was made before."""
ALONE = 20.0
"""Seconds after which a command that was not interrupted is stopped: `serve` never ends."""


@dataclass
class Outcome:
    """What became of one command's interrupts."""

    interrupts: int = 0
    ended_before: int = 0
    seconds: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def rote(words: list[str]) -> list[str]:
    return [sys.executable, "-m", "rote", *words]


def prepared(root: Path, needed: set[str]) -> dict[str, str]:
    """What these commands read, made once."""
    made = {name: str(root / name.lower()) for name in ("MODEL", "COUNTRIES", "LLAMA", "RUN", "PART1", "PART2", "TINY")}
    made["CAPITALS"] = str(root / "capitals.csv")
    if "CAPITALS" in needed:
        from tiny import save_llama_like  # pyright: ignore[reportMissingImports]

        Path(made["CAPITALS"]).write_text("country,capital\nFrance,Paris\nItaly,Rome\nPeru,Lima\nNorway,Oslo\n")
        save_llama_like(Path(made["TINY"]), "llama")
    sweep = ["sweep", *SIZES, "--heads", "1:6", "--seeds", "4", "--steps", "50"]
    steps = {
        "MODEL": ["build", SMALL],
        "COUNTRIES": ["build", "countries", "--method", "dana2025.theorem1"],
        "LLAMA": ["export", made["MODEL"], "--to", "llama"],
        "RUN": sweep,
        "PART1": [*sweep, "--part", "1/2"],
        "PART2": [*sweep, "--part", "2/2"],
    }
    for name, words in steps.items():
        if name in needed or (name == "MODEL" and "LLAMA" in needed):
            done = subprocess.run(rote([*words, "-o", made[name]]), capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"rote {' '.join(words)}: {done.stderr}")
    return made


def interrupted(words: list[str], folder: Path, moment: float, number: signal.Signals, outcome: Outcome) -> None:
    """Start a command, send it a signal after `moment` seconds, and note what is wrong with how it ends."""
    process = subprocess.Popen(rote(words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder,
                               start_new_session=True)  # fmt: skip
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        pass
    else:
        outcome.ended_before += 1
        process.communicate()
        return
    outcome.interrupts += 1
    # Ctrl-C reaches every process of a terminal's group, SIGTERM the one that it is sent to.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    sent = time.monotonic()
    case = f"{number.name} after {moment:.2f} s"
    try:
        said = process.communicate(timeout=30)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        outcome.problems.append(f"{case}: does not end in 30 s")
        return
    took = time.monotonic() - sent
    outcome.seconds.append(took)
    code, wanted = process.returncode, 128 + number
    lines = [line for line in said.splitlines() if line.strip()]
    if took > WITHIN:
        outcome.problems.append(f"{case}: takes {took:.1f} s")
    if code not in (wanted, 0):
        outcome.problems.append(f"{case}: exit code {code}: {said[-300:]}")
    if "Traceback" in said or (code == wanted and not any("rote: " in line for line in lines)):
        outcome.problems.append(f"{case}: says {said[-300:]!r}")
    hidden = [str(path.relative_to(folder)) for path in folder.rglob(".*") if path.name != ".lock"]
    if hidden:
        outcome.problems.append(f"{case}: leaves {', '.join(hidden)}")
    time.sleep(0.2)
    if left := children(process.pid):
        outcome.problems.append(f"{case}: leaves processes {sorted(left)}")


def children(session: int) -> set[int]:
    """Processes that a command started and left behind: those of its session."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != session:
            try:
                state, _, _, owner = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(owner) == session and state != "Z":
                found.add(int(entry.name))
    return found


def tormented(name: str, made: dict[str, str], root: Path, each: int, chance: random.Random) -> Outcome:
    """Interrupt one command so many times."""
    outcome = Outcome()

    def words(folder: Path) -> list[str]:
        return [made.get(word, word.replace("OUT", str(folder / "out"))) for word in COMMANDS[name]]

    folder = root / "alone"
    folder.mkdir()
    start = time.monotonic()
    try:
        alone = subprocess.run(rote(words(folder)), capture_output=True, text=True, timeout=ALONE, check=False)
        if alone.returncode not in (0, 1):
            return Outcome(problems=[f"does not run at all: {alone.stderr[-300:]}"])
    except subprocess.TimeoutExpired:
        pass
    takes = time.monotonic() - start
    shutil.rmtree(folder)
    while outcome.interrupts < each and outcome.ended_before < 4 * each:
        folder.mkdir()
        number = chance.choice((signal.SIGINT, signal.SIGINT, signal.SIGTERM))
        interrupted(words(folder), folder, chance.uniform(BEFORE, min(takes, ALONE / 3)), number, outcome)
        shutil.rmtree(folder)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--only", action="append", choices=list(COMMANDS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print("| command | interrupts | median, s | slowest, s | problems |\n|---|---|---|---|---|", flush=True)
    total, wrong = 0, 0
    with tempfile.TemporaryDirectory(prefix="rote-interrupts-") as place:
        root = Path(place)
        names = given.only or list(COMMANDS)
        made = prepared(root, {word for name in names for word in COMMANDS[name]})
        for name in names:
            outcome = tormented(name, made, root, given.each, random.Random(f"{given.seed} {name}"))
            times = outcome.seconds or [0.0]
            print(f"| `{name}` | {outcome.interrupts} | {statistics.median(times):.2f} | {max(times):.2f} | "
                  f"{len(outcome.problems)} |", flush=True)  # fmt: skip
            for problem in outcome.problems:
                print(f"  - {problem}", flush=True)
            total, wrong = total + outcome.interrupts, wrong + len(outcome.problems)
    print(f"\n{total} interrupts, {wrong} problems, seed {given.seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
