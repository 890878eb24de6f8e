"""A coverage-guided search for inputs that break the readers, by atheris (libFuzzer).

    python tools/fuzz.py [SECONDS] [tables|descriptions|folders]

Each target gets its share of the time, 600 seconds in all when nothing is said. The engine changes inputs wherever that
reaches new lines of rote. What is found (a traceback, more than 5 seconds, more than 4 GiB) is written below
`build/fuzz`, and running this again begins with it; exit 1. Inputs that are worth keeping go into tests/hostile.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "fuzz"
SECONDS = 600
SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx", ".csv.gz")
FILES = ("config.json", "model.safetensors", "vocab.json.xz", "certificate.json", "keys.safetensors")


def tables() -> Callable[[bytes], None]:
    """The first byte chooses the kind of file, the rest are its bytes."""
    from rote.errors import RoteError
    from rote.tasks.facts import facts_in

    def attempt(data: bytes) -> None:
        with contextlib.suppress(RoteError):
            facts_in(data[1:], f"facts{SUFFIXES[(data[:1] or b' ')[0] % len(SUFFIXES)]}")

    return attempt


def descriptions() -> Callable[[bytes], None]:
    """The text of a generator or of a named source; what looks like a path is left to the other target."""
    from rote.errors import RoteError
    from rote.tasks.facts import facts

    def attempt(data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        if "/" in text or text == "-":
            return
        with contextlib.suppress(RoteError):
            facts(text)

    return attempt


def folders() -> Callable[[bytes], None]:
    """The first byte chooses a file of a model folder, the rest are put in its place."""
    import rote

    where = Path(tempfile.mkdtemp()) / "model"
    rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}).save(where)
    whole = {name: (where / name).read_bytes() for name in FILES}

    def attempt(data: bytes) -> None:
        name = FILES[(data[:1] or b" ")[0] % len(FILES)]
        (where / name).write_bytes(data[1:])
        try:
            rote.load(where)
        except rote.RoteError:
            pass
        finally:
            (where / name).write_bytes(whole[name])

    return attempt


TARGETS = {"tables": tables, "descriptions": descriptions, "folders": folders}


def seeds(name: str, folder: Path) -> None:
    """Inputs to begin with: whole ones, since what is nearly right reaches furthest."""
    folder.mkdir(parents=True, exist_ok=True)
    if name == "descriptions":
        texts = (
            "random:vocab=7,context=2,facts=9,seed=1",
            "countries:facts=20,seed=1",
            "random:kind=vectors,examples=3",
        )
        for number, text in enumerate(texts):
            (folder / f"seed{number}").write_text(text)
        return
    if name == "tables":
        sys.path.insert(0, str(ROOT / "tests"))
        import random

        from hostile.tables import table

        for number in range(200):
            kind = number % len(SUFFIXES)
            (folder / f"seed{number}").write_bytes(
                bytes([kind]) + table(random.Random(number), SUFFIXES[kind])[:20_000]
            )
        return
    import rote

    with tempfile.TemporaryDirectory() as place:
        rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}).save(f"{place}/model")
        for kind, file in enumerate(FILES):
            (folder / f"seed{kind}").write_bytes(bytes([kind]) + (Path(place) / "model" / file).read_bytes())


def search(name: str, seconds: int) -> None:
    """Search one target in this process, which ends with it."""
    # It has no types, and is installed by `make fuzz` alone.
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["rote"]):
        attempt = TARGETS[name]()
    corpus = BUILD / name
    seeds(name, corpus)
    options = [
        f"-max_total_time={seconds}",
        "-timeout=5",
        "-rss_limit_mb=4096",
        "-max_len=20000",
        "-print_final_stats=1",
    ]
    atheris.Setup([name, *options, f"-artifact_prefix={BUILD}/found-{name}-", str(corpus)], attempt)
    atheris.Fuzz()


def main(words: list[str]) -> int:
    if words[:1] == ["--inside"]:
        search(words[1], int(words[2]))
        return 0
    seconds = int(words.pop(0)) if words and words[0].isdigit() else SECONDS
    names = words or list(TARGETS)
    BUILD.mkdir(parents=True, exist_ok=True)
    wrong = []
    for name in names:
        print(f"== {name}", flush=True)
        command = [sys.executable, __file__, "--inside", name, str(max(1, seconds // len(names)))]
        if subprocess.run(command, check=False).returncode != 0:
            wrong.append(name)
    print(f"found something wrong in {', '.join(wrong)}; see {BUILD}" if wrong else "nothing wrong was found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
