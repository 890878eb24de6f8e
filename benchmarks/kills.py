"""SIGKILLs at random moments of sweeps, builds, training, edits, exports, suites and kits: what is lost or left?

    python benchmarks/kills.py            # 200 kills
    python benchmarks/kills.py --kills 20

Each command first runs undisturbed, for the result to end in. It is then started and killed at a random moment, again
and again, until one start ends by itself. After every kill what stands on disk must be usable: a ledger with no trial
twice and none missing that was there before, model folders and exported folders whole or absent. At the end tables,
models and exports must be the undisturbed ones, byte for byte. Processes are forks of one that has imported everything,
so that moments fall into the work and not into imports; that one does nothing but fork, since threads that libraries
start do not survive it.
"""

from __future__ import annotations

import argparse
import contextlib
import filecmp
import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rote.cli import main
from rote.errors import RoteError
from rote.experiments.ledgers.ledger import FILE, Ledger
from rote.folders import read_folder, verify
from rote.folders.named_facts import facts_of_folder

IMPORTED = (
    "torch", "polars", "matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg",
    "matplotlib.backends.backend_pdf", "rote.experiments.sweep", "rote.experiments.best_of_seeds",
    "rote.experiments.runs.export", "rote.constructions.build", "rote.export.export", "lmfit", "scipy.stats",
    "rote.editing.edit", "rote.constructions.dana2025.edit", "rote.constructions.madden2025.edit",
    "rote.experiments.suite", "rote.experiments.kits.kit", "transformers", "tokenizers",
)  # fmt: skip
"""What the commands import when they run."""
SWEEP = ["sweep", "--vocab", "8", "--dim", "4", "--head-dim", "2", "--heads", "1:6", "--seeds", "6", "--steps", "400",
         "--workers", "1"]  # fmt: skip
FACTS = "random:vocab=20,context=2,facts=200,seed=1"
TRAIN = ["train", FACTS, "--dim", "6", "--heads", "6", "--seeds", "6", "--steps", "600", "--workers", "1"]
BUILD = ["build", FACTS, "--method", "dana2025.theorem1"]
EDIT = ["--set", "18 19=3", "--forget", "2 5"]
FEW = "random:vocab=12,context=2,facts=60,seed=1"
SUITE = ["suite", FEW, "--shapes", "8x4", "--loads", "0.5,1", "--methods", "dana2025.theorem1,madden2025"]
TWINS = ["suite", FEW, "--twins", "--for", "counterfact"]
LONGEST = 120.0
"""Seconds that a start which is left alone may take."""


@dataclass(frozen=True)
class Subject:
    """A command that is killed, what must hold after each kill, and what its end must equal."""

    name: str
    words: list[str]
    """With `OUT` for the folder that it writes."""
    check: Callable[[Path, Path], None]
    """Of the folder that is written, after a kill and at the end; the second folder is the undisturbed one."""
    same: Callable[[Path, Path], None]
    table: bool = False
    """Whether a folder that exists is gone on with; else it is left alone, or replaced."""


@dataclass
class Outcome:
    """What became of one command."""

    kills: int = 0
    starts: int = 0
    rounds: int = 0
    problems: list[str] = field(default_factory=list)


def fork(work: Callable[[], int]) -> int:
    """Do something in a process of its own, in silence; the number of the process."""
    process = os.fork()
    if process:
        return process
    code = 3
    try:
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
            code = work()
    finally:
        os._exit(code)


def start(words: Sequence[str]) -> int:
    """Run a command in a process of its own."""
    return fork(lambda: main(list(words)))


def examined(check: Callable[[Path, Path], None], folder: Path, whole: Path) -> None:
    """Check what stands on disk, in a process of its own; an error with the problem when it does not hold."""
    said = folder.with_name(f"{folder.name}.problem")

    def work() -> int:
        try:
            check(folder, whole)
        except (RoteError, OSError, ValueError) as error:
            said.write_text(f"{type(error).__name__}: {error}")
            return 1
        return 0

    code = ended(fork(work), LONGEST)
    if code:
        raise RoteError(said.read_text() if said.exists() else f"what stands on disk cannot be looked at (exit {code})")
    expect(code == 0, "looking at what stands on disk does not end")


def ended(process: int, within: float) -> int | None:
    """The exit code of a process, or nothing after it was killed."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def ledger_is_whole(folder: Path, whole: Path) -> None:
    """No trial twice, none that is not planned, each with the result of the undisturbed run."""
    if not (folder / FILE).exists() or (folder / FILE).stat().st_size == 0:
        return
    try:
        rows = Ledger.read(folder)[1]
    except RoteError as error:
        if "is empty" in str(error):
            return
        raise
    wanted = {row.key: {**row.result, "seconds": 0} for row in Ledger.read(whole)[1]}
    names = [row.key for row in rows]
    expect(len(names) == len(set(names)), "a trial stands twice in the ledger")
    expect(all({**row.result, "seconds": 0} == wanted.get(row.key) for row in rows), "a trial has another result")
    noted = folder.with_name(f"{folder.name}.seen.json")
    seen = {tuple(name) for name in json.loads(noted.read_text())} if noted.exists() else set()
    expect(seen <= set(names), "a trial that had ended is gone")
    noted.write_text(json.dumps(names))


def model_is_whole(folder: Path, whole: Path) -> None:
    """A model folder, and each kept seed beside it, is absent or verifies."""
    if folder.exists():
        task = facts_of_folder(read_folder(folder).origin, folder)
        expect(verify(folder, task).holds, "a model folder does not verify")
    for seed in folder.with_name(f"{folder.name}.seeds").glob("seed-*"):
        read_folder(seed)


def export_is_whole(folder: Path, whole: Path) -> None:
    """An exported folder is absent or has every file of the undisturbed one."""
    if folder.exists():
        same_files(folder, whole)


def same_tables(folder: Path, whole: Path) -> None:
    tables = []
    for run in (folder, whole):
        table = run.with_name(f"{run.name}.csv")
        main(["runs", "export", str(run), "-o", str(table), "--no-times"])
        tables.append(table.read_bytes())
    expect(tables[0] == tables[1], "the tables differ")


def same_model(folder: Path, whole: Path) -> None:
    """The weights and the vocabulary, and the certificate but for what each stage of the work took."""
    for name in ("model.safetensors", "vocab.json.xz"):
        expect(filecmp.cmp(folder / name, whole / name, shallow=False), f"{name} differs")
    certificates = [json.loads((root / "certificate.json").read_text()) for root in (folder, whole)]
    expect(timeless(certificates[0]) == timeless(certificates[1]), "the certificates differ")


def timeless(document: object) -> object:
    if isinstance(document, dict):
        return {name: timeless(value) for name, value in document.items() if name != "seconds"}
    return [timeless(value) for value in document] if isinstance(document, list) else document


def same_files(folder: Path, whole: Path) -> None:
    names = [{str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()} for root in (folder, whole)]
    expect(names[0] == names[1], f"files differ: {sorted(names[0] ^ names[1])}")
    differing = [name for name in names[1] if not filecmp.cmp(folder / name, whole / name, shallow=False)]
    expect(not differing, f"content differs: {differing}")


def expect(holds: bool, problem: str) -> None:
    if not holds:
        raise RoteError(problem)


def subjects(root: Path) -> list[Subject]:
    model = str(root / "export-model")
    if ended(start([*BUILD, "-o", model]), LONGEST) != 0:
        raise SystemExit("the model to export could not be built")
    return [
        Subject("sweep", [*SWEEP, "-o", "OUT"], ledger_is_whole, same_tables, table=True),
        Subject("build", [*BUILD, "-o", "OUT"], model_is_whole, same_model),
        Subject("train", [*TRAIN, "-o", "OUT"], model_is_whole, same_model),
        Subject("edit", ["edit", model, *EDIT, "-o", "OUT"], model_is_whole, same_model),
        Subject("export", ["export", model, "--to", "torch", "-o", "OUT"], export_is_whole, export_is_whole),
        Subject("suite", [*SUITE, "-o", "OUT"], export_is_whole, export_is_whole),
        Subject("twins", [*TWINS, "-o", "OUT"], export_is_whole, export_is_whole),
    ]


def torment(subject: Subject, root: Path, kills: int, chance: random.Random) -> Outcome:
    """Kill a command `kills` times, over as many rounds as that takes."""

    def words(folder: Path) -> list[str]:
        return [str(folder) if word == "OUT" else word for word in subject.words]

    whole, outcome = root / f"{subject.name}-whole", Outcome()
    began = time.monotonic()
    if ended(start(words(whole)), LONGEST) != 0:
        raise SystemExit(f"{subject.name} does not end even undisturbed")
    takes = time.monotonic() - began
    while outcome.kills < kills and not outcome.problems:
        outcome.rounds += 1
        folder = root / f"{subject.name}-{outcome.rounds}"
        code = None
        try:
            while code is None:
                last = outcome.kills == kills
                process = start(words(folder))
                outcome.starts += 1
                code = ended(process, LONGEST if last else chance.uniform(0, 1.1 * takes))
                expect(code is not None or not last, "a start does not end")
                outcome.kills += code is None
                examined(subject.check, folder, whole)
                if code is None and folder.exists() and not subject.table:
                    code = 0  # it was killed after its last act
            expect(code == 0, f"a start after {outcome.kills} kills exits {code}")
            examined(subject.same, folder, whole)
        except RoteError as error:
            outcome.problems.append(f"round {outcome.rounds}: {error}")
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def run(kills: int, seed: int, only: str | None = None) -> bool:
    for module in IMPORTED:
        importlib.import_module(module)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="rote-kills-") as name:
        root = Path(name)
        chosen = [each for each in subjects(root) if only is None or each.name in only.split(",")]
        results = {}
        for number, subject in enumerate(chosen):
            share = kills // len(chosen) + (number < kills % len(chosen))
            results[subject.name] = torment(subject, root, share, chance)
    print(f"{'command':<8}  kills  starts  times to the end  problems")
    for name, outcome in results.items():
        print(f"{name:<8}  {outcome.kills:>5}  {outcome.starts:>6}  {outcome.rounds:>16}  {len(outcome.problems)}")
        for problem in outcome.problems:
            print(f"          {problem}")
    print(f"{sum(outcome.kills for outcome in results.values())} kills, seed {seed}")
    return not any(outcome.problems for outcome in results.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="commands, comma-separated; default: all")
    chosen = parser.parse_args()
    sys.exit(0 if run(chosen.kills, chosen.seed, chosen.only) else 1)
