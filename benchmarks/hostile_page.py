"""The page over a hostile shelf: fifty honest browsers for a minute beside strangers' folders and slow clients.

    python benchmarks/hostile_page.py [--seconds 60] [--browsers 50] [--slow 450] [--hostile 4]

`rote serve` shows one model and one run that are fine, and models and ledgers that are made to hang, to exhaust memory
or to lead out of the folder (tests/hostile, tests/web/test_hostile_shelf.py). Honest browsers ask for the pages of a
visit in turn. Beside them other clients open the hostile folders again and again, and slow ones hold connections open
without ever sending a request. Reported: honest answers, how many failed, times, and the memory of all processes. Exit
1 if a single honest request failed, or the server does not end within two seconds of Ctrl-C.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import rote
from hostile.ledgers import OBJECTS
from rote.experiments.ledgers.ledger import FILE

HOSTILE = {
    "layers": {"spec": {"layers": 2**31}},
    "heads": {"spec": {"heads": 2**31}},
    "generator": {"facts": {"source": "random:vocab=5000,context=2,facts=16000000,seed=1"}},
    "device": {"facts": {"source": "/dev/zero"}},
    "list": {"spec": []},
}


def made(root: Path) -> None:
    """The shelf."""
    rote.build("countries:facts=300,seed=1").save(root / "good")
    grid = {"vocab": 8, "context": 2, "dim": 4, "head_dim": 2, "heads": "1:6"}
    rote.sweep(grid, folder=root / "run", seeds=3, steps=50)
    for name, changes in HOSTILE.items():
        shutil.copytree(root / "good", root / name)
        config = json.loads((root / name / "config.json").read_text())
        for part, value in changes.items():
            config[part] = {**config[part], **value} if isinstance(value, dict) else value
        (root / name / "config.json").write_text(json.dumps(config))
    for number, statements in enumerate(OBJECTS[:4]):
        (root / f"endless{number}").mkdir()
        shutil.copy(root / "run" / FILE, root / f"endless{number}" / FILE)
        with closing(sqlite3.connect(root / f"endless{number}" / FILE)) as ledger:
            ledger.executescript(statements)
    (root / "linked").symlink_to("/etc")


def visit(draw: random.Random) -> list[str]:
    """The addresses that one honest person's browser asks for."""
    sizes = f"vocab={draw.randint(50, 5000)}&dim={draw.randint(16, 64)}&head_dim=8&heads={draw.randint(1, 300)}"
    return [
        "/planner/numbers?facts=countries&context=2&" + sizes, "/planner/numbers?facts=none&context=2&" + sizes,
        "/static/app.js", "/static/page.css", "/runs", "/runs/view?run=0/run", "/runs/live?run=0/run",
        "/runs/compare?a=0/run&b=0/run", "/inspector", "/inspector/model?model=0/good",
        "/inspector/search?model=0/good&search=capital", f"/inspector/fact?model=0/good&row={draw.randrange(300)}",
    ]  # fmt: skip


def attacks() -> list[str]:
    """What the others ask for."""
    return [
        *(f"/inspector/model?model=0/{name}" for name in HOSTILE),
        *(f"/runs/view?run=0/endless{number}" for number in range(4)),
        "/inspector/model?model=0/linked", "/inspector/fact?model=0/generator&row=1",
    ]  # fmt: skip


async def crowd(address: str, browsers: int, hostile: int, seconds: float) -> tuple[list[float], Counter[str], int]:
    """Times and statuses of honest answers, and how many hostile requests were answered beside them."""
    times: list[float] = []
    statuses: Counter[str] = Counter()
    end, attacked = time.perf_counter() + seconds, 0

    async def honest(seed: int) -> None:
        draw = random.Random(seed)
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            while True:
                for path in visit(draw):
                    if time.perf_counter() > end:
                        return
                    start = time.perf_counter()
                    try:
                        status = str((await client.get(path)).status_code)
                    except httpx.HTTPError as error:
                        status = type(error).__name__
                    times.append(time.perf_counter() - start)
                    statuses[status if status == "200" else f"{status} {path.partition('?')[0]}"] += 1

    async def attacker(seed: int) -> None:
        nonlocal attacked
        draw = random.Random(-seed - 1)
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            while time.perf_counter() < end:
                with suppress(httpx.HTTPError):
                    await client.get(draw.choice(attacks()))
                attacked += 1

    await asyncio.gather(*map(honest, range(browsers)), *map(attacker, range(hostile)))
    return times, statuses, attacked


def memory(process: int) -> float:
    """MiB of a process and its descendants: what is theirs alone, and their share of what they have in common."""
    total, children = 0.0, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    waiting = [process]
    while waiting:
        number = waiting.pop()
        waiting += children.get(number, [])
        with suppress(OSError):
            lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--browsers", type=int, default=50)
    parser.add_argument("--slow", type=int, default=450)
    parser.add_argument("--hostile", type=int, default=4)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(prefix="rote-hostile-page-") as place:
        made(Path(place))
        words = [sys.executable, "-m", "rote", "serve", place, "--port", "0", "--json"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            said = ""
            while server.stdout and not said.rstrip().endswith("}"):
                said += server.stdout.readline()
            address = json.loads(said)["address"]
            port = int(address.rpartition(":")[2])
            # The first request imports what the processes need.
            with httpx.Client(base_url=address, timeout=120) as first:
                for path in visit(random.Random(0)):
                    first.get(path)
            slow = []
            for _ in range(given.slow):
                slow.append(socket.create_connection(("127.0.0.1", port)))
                slow[-1].sendall(b"GET /planner HTTP/1.1\r\nHost: localhost")
            peak, ended = 0.0, False

            async def watched() -> tuple[list[float], Counter[str], int]:
                nonlocal peak

                async def watch() -> None:
                    nonlocal peak
                    while not ended:
                        peak = max(peak, await asyncio.to_thread(memory, server.pid))
                        await asyncio.sleep(2)

                watching = asyncio.create_task(watch())
                result = await crowd(address, given.browsers, given.hostile, given.seconds)
                watching.cancel()
                return result

            times, statuses, attacked = asyncio.run(watched())
            start = time.monotonic()
            server.send_signal(signal.SIGINT)
            server.wait(30)
            stopped = time.monotonic() - start
            errors = server.stderr.read() if server.stderr else ""
    ranked = sorted(times)
    failed = sum(count for status, count in statuses.items() if status != "200")
    print(f"{len(times):,} honest answers to {given.browsers} browsers in {given.seconds:g} s, {failed} failed; "
          f"median {1000 * statistics.median(ranked):,.0f} ms, "
          f"95th percentile {1000 * ranked[int(0.95 * (len(ranked) - 1))]:,.0f} ms, "
          f"slowest {1000 * ranked[-1]:,.0f} ms; "
          f"{attacked:,} hostile requests and {given.slow} slow connections beside them; "
          f"{peak:,.0f} MiB at most in all processes; Ctrl-C ended it in {stopped:.2f} s")  # fmt: skip
    for status, count in statuses.most_common():
        print(f"  {status}: {count:,}")
    if "Traceback" in errors:
        print(errors[-2000:])
    return 1 if failed or stopped > 2 or "Traceback" in errors else 0


if __name__ == "__main__":
    sys.exit(main())
