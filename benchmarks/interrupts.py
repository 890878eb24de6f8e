"""Ctrl-C and SIGTERM at random moments of every command: does it end in two seconds, in one message, cleanly?

    python benchmarks/interrupts.py [--each 20] [--only NAME] [--seed 0]

Each command is started as a user starts it (a new process, imports included) and gets a signal at a random moment. It
must end within two seconds with exit code 130 or 143, or have ended by itself; say one line on standard error, which is
no traceback; and leave nothing that is unfinished: no hidden file or folder, no process, every model folder, export and
table complete. Exit 1 if a single case fails. Python reports what it has imported (`-X importtime`), so that it is
known which signals arrived before rote's first line, where the interpreter answers, or in the first four files of rote,
which take a millisecond until signals are held back. Both are counted apart.
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
EARLIEST = 0.05
"""Seconds after the start at which the first signals are sent."""
SMALL = "random:vocab=20,context=2,facts=200,seed=1"
SIZES = ["--vocab", "8", "--dim", "4", "--head-dim", "2"]
TEMPLATE = ["--template", "The capital of {country} is"]
COMMANDS: dict[str, list[str]] = {
    "demo": ["demo", "-o", "OUT"],
    "plan": ["plan", "countries"],
    "build": ["build", "countries", "-o", "OUT"],
    "ask": ["ask", "MODEL", "1", "2"],
    "recall": ["recall", "COUNTRIES", "countries"],
    "recall --as": ["recall", "COUNTRIES", "--as", "Q8_0"],
    "verify": ["verify", "COUNTRIES"],
    "verify of an export": ["verify", "LLAMA", SMALL],
    "verify of a graft": ["verify", "GRAFT", "CAPITALS"],
    "inspect": ["inspect", "COUNTRIES"],
    "inspect of a language model": ["inspect", "TINY", "--facts", "CAPITALS", *TEMPLATE],
    "diff": ["diff", "COUNTRIES", "COUNTRIES"],
    "report": ["report", "MODEL", "RUN", "-o", "OUT/report.html", "--markdown", "OUT/paper"],
    "serve": ["serve", "RUN", "--port", "0"],
    "train": ["train", SMALL, "--dim", "6", "--heads", "6", "--seeds", "6", "--steps", "4000", "-o", "OUT"],
    "edit": ["edit", "COUNTRIES", "--set", "capital France=Lyon", "-o", "OUT"],
    "edit of a graft": ["edit", "GRAFT", "--set", "France=Lima", "-o", "OUT"],
    "export": ["export", "MODEL", "--to", "huggingface", "-o", "OUT"],
    "graft": ["graft", "TINY", "CAPITALS", *TEMPLATE, "--end", "", "-o", "OUT"],
    "graft --as adapter": ["graft", "TINY", "CAPITALS", *TEMPLATE, "--end", "", "--as", "adapter", "-o", "OUT"],
    "graft --as hook": ["graft", "TINY", "CAPITALS", *TEMPLATE, "--end", "", "--as", "hook", "-o", "OUT"],
    "graft --remove": ["graft", "GRAFT", "--remove", "-o", "OUT"],
    "bounds": ["bounds", "--vocab", "50", "--context", "2", "--dim", "10", "--head-dim", "10", "--heads", "20"],
    "list": ["list", "methods"],
    "show": ["show", "dana2025"],
    "sweep": ["sweep", *SIZES, "--heads", "1:8", "--seeds", "20", "--steps", "2000", "-o", "OUT"],
    "reproduce": ["reproduce", "dana2025.fig4", "--quick", "-o", "OUT"],
    "capacity": ["capacity", *SIZES, "--heads", "4", "--by", "training"],
    "runs list": ["runs", "list", "RUN"],
    "runs show": ["runs", "show", "RUN"],
    "runs fit": ["runs", "fit", "RUN"],
    "runs export": ["runs", "export", "RUN", "-o", "OUT/table.parquet"],
    "runs diff": ["runs", "diff", "RUN", "RUN"],
    "runs merge": ["runs", "merge", "PART1", "PART2", "-o", "OUT"],
    "lm recall": ["lm", "recall", "TINY", "CAPITALS", *TEMPLATE],
    "lm plan": ["lm", "plan", "TINY", "CAPITALS", *TEMPLATE],
    "lm assumptions": ["lm", "assumptions", "LLAMA"],
    "lm capacity": ["lm", "capacity", "gpt2", "--vocab", "16", "--steps", "400", "-o", "OUT"],
    "suite": ["suite", SMALL, "--loads", "0.5", "--seeds", "1", "-o", "OUT"],
    "suite --twins": ["suite", "countries:facts=200,seed=1", "--twins", "-o", "OUT"],
    "doctor": ["doctor"],
}
"""Commands, with OUT for what they write and names in capitals for what was made before."""
ALONE = 20.0
"""Seconds after which a command that was not interrupted is stopped: `serve` never ends."""


@dataclass
class Outcome:
    """What became of one command's interrupts."""

    interrupts: int = 0
    too_early: int = 0
    """Signals that arrived before rote's first line."""
    just_begun: int = 0
    """Signals that arrived in the files that are loaded before signals are held back."""
    ended_before: int = 0
    seconds: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    """CPU seconds of the process from the signal to its end: what a busy machine does not change."""
    problems: list[str] = field(default_factory=list)


def rote(words: list[str], *options: str) -> list[str]:
    return [sys.executable, *options, "-m", "rote", *words]


def prepared(root: Path, needed: set[str]) -> dict[str, str]:
    """What these commands read, made once."""
    needed = needed | ({"CAPITALS"} if "GRAFT" in needed else set())
    made = {
        name: str(root / name.lower())
        for name in ("MODEL", "COUNTRIES", "LLAMA", "RUN", "PART1", "PART2", "TINY", "GRAFT")
    }
    made["CAPITALS"] = str(root / "capitals.csv")
    if {"CAPITALS", "TINY"} & needed:
        from tiny import save_llama_like  # pyright: ignore[reportMissingImports]

        Path(made["CAPITALS"]).write_text("country,capital\nFrance,Paris\nItaly,Rome\nPeru,Lima\nNorway,Oslo\n")
        save_llama_like(Path(made["TINY"]), "llama")
    sweep = ["sweep", *SIZES, "--heads", "1:6", "--seeds", "4", "--steps", "50"]
    steps = {
        "MODEL": ["build", SMALL],
        "COUNTRIES": ["build", "countries", "--method", "dana2025.theorem1"],
        "LLAMA": ["export", made["MODEL"], "--to", "llama"],
        "GRAFT": ["graft", made["TINY"], made["CAPITALS"], *TEMPLATE, "--end", ""],
        "RUN": sweep,
        "PART1": [*sweep, "--part", "1/2"],
        "PART2": [*sweep, "--part", "2/2"],
    }
    for name, words in steps.items():
        if name in needed or (name == "MODEL" and "LLAMA" in needed):
            done = subprocess.run(rote([*words, "-o", made[name]]), capture_output=True, text=True, check=False)
            if done.returncode not in (0, 1):
                sys.exit(f"rote {' '.join(words)}: {done.stderr}")
    return made


IMPORTED = "import time:"
"""How a line begins in which Python reports an import."""
FIRST = ("__future__", "rote.lazy", "rote")
"""Reported while rote's first files are loaded, in this order: Python loads none of them by itself."""


def interrupted(words: list[str], folder: Path, moment: float, number: signal.Signals, outcome: Outcome) -> None:
    """Start a command, send it a signal after `moment` seconds, and note what is wrong with how it ends."""
    # A file, since a pipe that nobody reads while the command runs would fill up.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(rote(words, "-X", "importtime"), stdout=subprocess.DEVNULL, stderr=errors,
                                   cwd=folder, start_new_session=True)  # fmt: skip
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            pass
        else:
            outcome.ended_before += 1
            return
        # Ctrl-C reaches every process of a terminal's group, SIGTERM the one that it is sent to.
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        sent, before = time.monotonic(), _cpu(process.pid)
        case = f"{number.name} after {moment:.2f} s"
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() - sent > 30:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                outcome.problems.append(f"{case}: does not end in 30 s")
                return
            time.sleep(0.005)
        took, spent = time.monotonic() - sent, _cpu(process.pid) - before
        process.wait()
        errors.seek(0)
        lines = [line for line in errors.read().splitlines() if line.strip()]
    imported = [line.rpartition("|")[2].strip() for line in lines if line.startswith(IMPORTED)]
    said = "\n".join(line for line in lines if not line.startswith(IMPORTED))
    if "__future__" not in imported:
        outcome.too_early += 1
    elif imported[-1] in FIRST and process.returncode != 128 + number:
        outcome.just_begun += 1
    else:
        outcome.interrupts += 1
        outcome.seconds.append(took)
        outcome.spent.append(spent)
        wrong = _wrong(process.returncode, number, took, said)
        outcome.problems += [f"{case}: {problem} ({spent:.2f} CPU s)" for problem in wrong]
    stated = (".lock", *([".out.resume"] if "the same command resumes" in said else []))
    hidden = [str(path.relative_to(folder)) for path in folder.glob("**/.*") if path.name not in stated]
    if hidden:
        outcome.problems.append(f"{case}: leaves {', '.join(hidden)}")
    time.sleep(0.2)
    if left := children(process.pid):
        outcome.problems.append(f"{case}: leaves processes {sorted(left)}")


def _cpu(process: int) -> float:
    """CPU seconds of a process so far, also of one that has ended and was not waited for."""
    counts = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return (int(counts[11]) + int(counts[12])) / os.sysconf("SC_CLK_TCK")


def _wrong(code: int, number: signal.Signals, took: float, said: str) -> list[str]:
    """What is wrong with how a command ended that rote had begun."""
    wrong, wanted = [], 128 + number
    if took > WITHIN:
        wrong.append(f"takes {took:.1f} s")
    if code not in (wanted, 0):
        wrong.append(f"exit code {code}: {said[-300:]}")
    if "Traceback" in said or (code == wanted and said.count("rote: ") != 1):
        wrong.append(f"says {said[-300:]!r}")
    return wrong


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
    while outcome.interrupts < each and outcome.ended_before + outcome.too_early + outcome.just_begun < 6 * each:
        folder.mkdir()
        number = chance.choice((signal.SIGINT, signal.SIGINT, signal.SIGTERM))
        interrupted(words(folder), folder, chance.uniform(EARLIEST, min(takes, ALONE / 3)), number, outcome)
        shutil.rmtree(folder)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--only", action="append", choices=list(COMMANDS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # A shell starts what is put into the background deaf to Ctrl-C, and so would be all that is started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(
        "| command | interrupts | median, s | slowest, s | most CPU s | problems | before rote | in its first files |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    total, wrong = 0, 0
    with tempfile.TemporaryDirectory(prefix="rote-interrupts-") as place:
        root = Path(place)
        names = given.only or list(COMMANDS)
        made = prepared(root, {word for name in names for word in COMMANDS[name]})
        for name in names:
            outcome = tormented(name, made, root, given.each, random.Random(f"{given.seed} {name}"))
            times = outcome.seconds or [0.0]
            print(f"| `{name}` | {outcome.interrupts} | {statistics.median(times):.2f} | {max(times):.2f} | "
                  f"{max(outcome.spent, default=0.0):.2f} | "
                  f"{len(outcome.problems)} | {outcome.too_early} | {outcome.just_begun} |", flush=True)  # fmt: skip
            for problem in outcome.problems:
                print(f"  - {problem}", flush=True)
            total, wrong = total + outcome.interrupts, wrong + len(outcome.problems)
    print(f"\n{total} interrupts, {wrong} problems, seed {given.seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
