"""A coverage-guided search for inputs that break the readers, by atheris (libFuzzer).

    python tools/fuzz.py [SECONDS] [tables|descriptions|folders|ledgers|exports|page]

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
CAPITALS = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
LEDGER = ("ledger.sqlite", "ledger.sqlite-wal")
EXPORT = ("certificate.json", "export.json", "state_dict.safetensors", "source/config.json", "source/certificate.json")
REQUESTS = (
    "GET planner/numbers?facts=countries&vocab=50&context=2&dim=8&head_dim=4&heads=3",
    "GET inspector/fact?model=0/small&words=capital+France&off=0.0\nSec-Fetch-Site: same-origin",
    "GET runs/compare?a=0/small&b=0/small\nHost: localhost:80\nOrigin: http://localhost",
    "POST planner/table?name=facts.csv\nContent-Type: text/csv\n\na,b\nx,y\n",
)
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
    rote.build(CAPITALS).save(where)
    return _replacing(where, FILES, lambda: rote.load(where))


def ledgers() -> Callable[[bytes], None]:
    """The first byte chooses the ledger of a run or the log beside it, the rest are put in its place."""
    from rote.experiments.runs.listing import show_run

    where = Path(tempfile.mkdtemp()) / "run"
    _made_run(where)
    return _replacing(where, LEDGER, lambda: show_run(where).summary())


def exports() -> Callable[[bytes], None]:
    """The first byte chooses a file of an export, the rest are put in its place; the export is verified."""
    import rote
    from rote.export import verify_export

    where, task = Path(tempfile.mkdtemp()) / "export", rote.facts(CAPITALS)
    rote.export_model(rote.build(task), "torch", where, task)
    return _replacing(where, EXPORT, lambda: verify_export(where, task))


def page() -> Callable[[bytes], None]:
    """A line with a method and an address, lines of headers, an empty line, and a body; the page answers."""
    from fastapi.testclient import TestClient

    import rote
    from rote.web.app import make_app

    where = Path(tempfile.mkdtemp())
    rote.build(CAPITALS).save(where / "small")
    client: Any = TestClient(make_app([where]), base_url="http://localhost", follow_redirects=False)

    def attempt(data: bytes) -> None:
        head, _, body = data.partition(b"\n\n")
        first, *lines = head.decode("latin-1").split("\n")
        method, _, address = first.partition(" ")
        headers = [tuple(line.partition(":")[::2]) for line in lines]
        try:
            request = client.build_request(method or "GET", f"/{address.lstrip('/')}", headers=headers, content=body)
        except Exception:  # noqa: BLE001  (what httpx itself does not send)
            return
        if client.send(request).status_code >= 500:
            raise AssertionError(f"status of {method} {address}")

    return attempt


def _replacing(where: Path, files: tuple[str, ...], read: Callable[[], object]) -> Callable[[bytes], None]:
    """Put bytes in the place of one of these files, read the folder, and restore it."""
    from rote.errors import RoteError

    whole = {name: (where / name).read_bytes() if (where / name).exists() else None for name in files}

    def attempt(data: bytes) -> None:
        name = files[(data[:1] or b" ")[0] % len(files)]
        before = set(where.rglob("*")) | {where / name}
        (where / name).write_bytes(data[1:])
        try:
            with contextlib.suppress(RoteError):
                read()
            if left := set(where.rglob("*")) - before:
                raise AssertionError(f"leaves {sorted(left)}")
        finally:
            content = whole[name]
            (where / name).unlink() if content is None else (where / name).write_bytes(content)

    return attempt


def _made_run(where: Path) -> None:
    import rote

    rote.sweep({"vocab": 6, "context": 2, "dim": 3, "head_dim": 2, "heads": "1:3"}, folder=where, seeds=1, steps=5)


TARGETS = {
    "tables": tables, "descriptions": descriptions, "folders": folders, "ledgers": ledgers, "exports": exports,
    "page": page,
}  # fmt: skip


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
    if name == "page":
        for number, text in enumerate(REQUESTS):
            (folder / f"seed{number}").write_text(text)
        return
    import rote

    with tempfile.TemporaryDirectory() as place:
        where, files = Path(place) / "made", {"folders": FILES, "ledgers": LEDGER, "exports": EXPORT}[name]
        if name == "ledgers":
            _made_run(where)
        elif name == "exports":
            rote.export_model(rote.build(CAPITALS), "torch", where, rote.facts(CAPITALS))
        else:
            rote.build(CAPITALS).save(where)
        for kind, file in enumerate(files):
            content = (where / file).read_bytes() if (where / file).exists() else b""
            (folder / f"seed{kind}").write_bytes(bytes([kind]) + content)


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
