"""Installs what tools/build_release.py wrote in clean environments outside the tree, and runs the README there.

    python tools/try_release.py                # the wheel, then the source archive without a compiler
    python tools/try_release.py --python python3.13 --only wheel

In each environment README's Python blocks and commands and those of docs/get_started.md run as they are written.
The wheel must bring the native engine. The source archive is installed without a compiler, and `rote train` must say
once, in one line, that it is slower.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/get_started.md")
SLOWER = "rote: the native engine is not built here: training runs on the torch engine"
WIDTHS = "from rote.training.native_engine import lanes; print(*lanes())"
"""Prints the vector widths that the installed engine runs in; nothing without an engine."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the environments")
    parser.add_argument("--only", choices=("wheel", "sdist"))
    parser.add_argument("--core", type=Path, default=ROOT / "requirements" / "core.txt")
    given = parser.parse_args()
    (wheel,), (archive,) = given.dist.glob("byrote-*.whl"), given.dist.glob("byrote-*.tar.gz")
    if given.only != "sdist":
        tried(wheel, given.python, given.core, compiler=True)
    if given.only != "wheel":
        tried(archive, given.python, given.core, compiler=False)
    return 0


def tried(file: Path, python: str, core: Path, compiler: bool) -> None:
    """Install one file in an environment of its own and run the pages there; anything unexpected ends the program."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rote-try-") as place:
        folder = Path(place)
        run([python, "-m", "venv", str(folder / "venv")])
        bin, commands, work = folder / "venv" / "bin", folder / "commands", folder / "work"
        work.mkdir()
        # Without a compiler: only what the pages call is found, and what setuptools would call by a variable fails.
        commands.mkdir()
        for name in ("sh", "bash", "env"):
            if found := shutil.which(name):
                (commands / name).symlink_to(found)
        surroundings = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
        surroundings["PATH"] = f"{bin}{os.pathsep}{os.environ['PATH'] if compiler else commands}"
        if not compiler:
            surroundings |= {"CC": "false", "CXX": "false"}
        pip = [str(bin / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*pip, "--require-hashes", "--no-deps", "--requirement", str(core)], env=surroundings)
        run([*pip, "--constraint", str(ROOT / "constraints.txt"), str(file)], env=surroundings, cwd=work)
        installed = time.monotonic()
        widths = run([str(bin / "python"), "-c", WIDTHS], env=surroundings, cwd=work).split()
        if bool(widths) != compiler:
            raise SystemExit(f"{file.name}: the native engine runs in widths {widths}, with a compiler: {compiler}")
        said = 0
        for page in PAGES:
            # A folder per page: two pages may write models of one name.
            work = Path(tempfile.mkdtemp(dir=folder))
            for language, block in blocks(ROOT / page):
                if language == "python":
                    run([str(bin / "python"), "-c", block], env=surroundings, cwd=work)
                    continue
                for command in (line for line in block.splitlines() if line.startswith("rote ")):
                    errors = run(["bash", "-c", command], env=surroundings, cwd=work, errors=True)
                    said = errors.count(SLOWER)
                    if said != (command.startswith("rote train") and not compiler):
                        raise SystemExit(f"{file.name}: `{command}` says {said} times that training is slower")
        print(
            f"{file.name}: {'native engine in widths ' + ' '.join(widths) if widths else 'without the native engine'}; "
            f"installed in {installed - start:.0f} s, {', '.join(PAGES)} run in {time.monotonic() - installed:.0f} s",
            flush=True,
        )


def blocks(page: Path) -> list[tuple[str, str]]:
    """The blocks of a page with their language, in order."""
    found = re.findall(r"^```(python|bash)\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
    if not found:
        raise SystemExit(f"{page}: has no blocks to run")
    return found


def run(command: list[str], *, errors: bool = False, **options) -> str:
    """What a command prints; one that fails ends the program with its messages."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stderr if errors else done.stdout


if __name__ == "__main__":
    sys.exit(main())
