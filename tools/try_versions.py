"""Runs the README and a part of the tests with the lowest or the newest versions of every dependency.

    make release                               # writes the wheel
    python tools/try_versions.py lowest        # the versions that pyproject.toml names
    python tools/try_versions.py newest        # what the package index has today, without constraints.txt
    python tools/try_versions.py newest --python python3.13

Gigabytes are downloaded where the index has torch with CUDA alone, so CI does not run it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

from try_release import PAGES, ROOT, blocks, run

TESTS = (
    "tests/test_python_library.py",
    "tests/constructions/test_selector.py",
    "tests/constructions/test_theorem1.py",
    "tests/folders/test_folder.py",
    "tests/folders/test_verify.py",
    "tests/measure",
    "tests/models",
    "tests/tasks/test_tables_as_they_come.py",
    "tests/theory/test_bounds.py",
    "tests/training/test_train.py",
)
TOOLS = ("beartype", "hypothesis", "pytest")
"""What the tests themselves need, at its newest in either case."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("versions", choices=("lowest", "newest"))
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the environment")
    given = parser.parse_args()
    (wheel,) = given.dist.glob("byrote-*.whl")
    with tempfile.TemporaryDirectory(prefix="rote-versions-") as place:
        folder = Path(place)
        run([given.python, "-m", "venv", str(folder / "venv")])
        python = str(folder / "venv" / "bin" / "python")
        surroundings = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
        surroundings["PATH"] = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"
        pins = lowest() if given.versions == "lowest" else []
        run([python, "-m", "pip", "install", "--quiet", "--upgrade", str(wheel), *pins, *TOOLS], env=surroundings)
        names = [re.split(r"[<>=]", text)[0] for text in dependencies()]
        shown = run([python, "-m", "pip", "list", "--format", "freeze"], env=surroundings).splitlines()
        print(run([python, "--version"], env=surroundings).strip(), *sorted(set(shown) & with_versions(shown, names)))
        for page in PAGES:
            work = Path(tempfile.mkdtemp(dir=folder))
            for language, block in blocks(ROOT / page):
                words = [python, "-c", block] if language == "python" else ["bash", "-ec", block]
                run(words, env=surroundings, cwd=work)
            print(f"{page} runs as written", flush=True)
        # Beside the installed package, not in the tree, whose `src` would be imported.
        for name in ("tests", "benchmarks", "tools"):
            shutil.copytree(ROOT / name, folder / name)
        shutil.copy(ROOT / "pyproject.toml", folder)
        words = ["-m", "pytest", "-p", "no:cacheprovider", "-o", "filterwarnings=default", "-o", "addopts=-q", *TESTS]
        print(run([python, *words], env={**surroundings, "OMP_NUM_THREADS": "1"}, cwd=folder).splitlines()[-1])
    return 0


def dependencies() -> list[str]:
    """What the core requires, with the lowest versions."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


def lowest() -> list[str]:
    """Every dependency at the lowest version that pyproject.toml allows."""
    return [text.replace(">=", "==") for text in dependencies()]


def with_versions(shown: list[str], names: list[str]) -> set[str]:
    """The lines of `pip list` that are about these packages."""
    return {line for line in shown if line.partition("==")[0].lower() in names}


if __name__ == "__main__":
    sys.exit(main())
