"""The native engine under the compiler's sanitizers, over the tests of its gradients and of training.

`python tools/sanitize.py` builds a copy of the package per sanitizer (address, undefined behaviour, threads) below
`build/sanitize` and runs the tests there; the package itself is left alone. Vector widths that this processor lacks are
compiled without instructions of their own, so that every width is run. Exit 1: a sanitizer or a test complained.

Python and torch are not built with sanitizers, so that three of their findings mean nothing here and are off: leaks at
exit (the interpreter keeps memory until it ends), memory that another library's allocator took, and races inside
libraries whose locks the thread sanitizer cannot see. All that the engine itself does is watched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "sanitize"
TESTS = ["tests/training/test_engine_gradients.py", "tests/training/test_train.py"]
SANITIZERS = {
    "address": {"library": "libasan.so", "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:alloc_dealloc_mismatch=0"},
    "undefined": {"library": "libubsan.so", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"},
    "thread": {
        "library": "libtsan.so",
        "TSAN_OPTIONS": "halt_on_error=1:exitcode=66:ignore_noninstrumented_modules=1:report_signal_unsafe=0",
    },
}


def main(names: list[str]) -> int:
    """Run these sanitizers, all when none is named; 1 if one of them complained."""
    results = {name: _clean(name) for name in names or SANITIZERS}
    for name, clean in results.items():
        print(f"{name}: {'clean' if clean else 'NOT CLEAN'}")
    return 0 if all(results.values()) else 1


def _clean(name: str) -> bool:
    print(f"== {name} sanitizer", flush=True)
    package = _built(name)
    options = {key: value for key, value in SANITIZERS[name].items() if key != "library"}
    environment = {
        **os.environ,
        **options,
        "PYTHONPATH": str(package),
        # The sanitizers look for the function that throws exceptions when they start, so that its library comes along.
        "LD_PRELOAD": f"{_library(SANITIZERS[name]['library'])} {_library('libstdc++.so.6')}",
        "OMP_NUM_THREADS": "1",
    }
    # What a failing test prints must not be lost when the sanitizer ends the process.
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-s", "-p", "no:cacheprovider", *TESTS]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


def _built(name: str) -> Path:
    """A folder with a copy of the package whose engine was built with this sanitizer."""
    folder = BUILD / name
    package = folder / "package"
    shutil.rmtree(package, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "engine*.so")
    shutil.copytree(ROOT / "src" / "rote", package / "rote", ignore=ignored)
    flags = f"-fsanitize={name} -fno-omit-frame-pointer -g1 -O1 -fno-sanitize-recover=all"
    environment = {**os.environ, "ROTE_ENGINE_FLAGS": flags, "ROTE_PORTABLE": " ".join(_missing_widths())}
    build = ["setup.py", "-q", "build_ext", "--build-temp", str(folder / "temp"), "--build-lib", str(package)]
    subprocess.run([sys.executable, *build], cwd=ROOT, env=environment, check=True)
    if not any((package / "rote" / "training" / "native").glob("engine*.so")):
        raise SystemExit("the engine was not built; is there a C++ compiler with sanitizers?")
    return package


def _missing_widths() -> list[str]:
    """Widths that this processor has no instructions for."""
    ask = "from rote.training.native_engine import lanes; print(*sorted({8, 16} - set(lanes())))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.split()


def _library(name: str) -> str:
    """Where the compiler keeps a sanitizer's library, which must be in the process before Python is."""
    compiler = os.environ.get("CXX", "g++")
    done = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    path = done.stdout.strip()
    if not os.path.isabs(path):
        raise SystemExit(f"{compiler} has no {name}; install its sanitizers (Debian: libgcc-dev)")
    return os.path.realpath(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
