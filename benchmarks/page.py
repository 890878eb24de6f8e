"""How fast the page answers: sliders in a real browser, opening a large model, and fifty browsers at once.

    rote build wordnet:facts=20000,seed=1 -o pages/wordnet
    rote reproduce dana2025.fig4 --quick -o pages/fig4
    python benchmarks/page.py pages [--moves 200] [--seconds 60] [--browsers 50]

Sliders: from moving one to the frame that shows the new numbers, chart and address, in headless Chromium. Opening: from
the request for a model of which the server knows nothing to the page that searches its facts. Fifty browsers: as many
connections, each asking for the next page as soon as it has one, the pages of a visit in turn. Targets: 150 ms for
95 of 100 moves, 2 s to open 20,000 facts, 200 ms to search them, no error.
Needs Chromium, its driver, and `byrote[web]`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

MOVES = """
const [moves, done] = [arguments[0], arguments[1]];
const form = document.getElementById("planner"), sliders = [...form.querySelectorAll("input[type=range]")];
const frame = () => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
(async () => {
  const times = [];
  for (const [which, share] of moves) {
    const slider = sliders[which], number = document.getElementById(slider.dataset.for), size = number.value;
    const before = form.dataset.shown, start = performance.now();
    slider.value = Math.round(150 + 450 * share);
    slider.dispatchEvent(new Event("input"));
    if (number.value === size) continue;  // moved by less than one
    while (form.dataset.shown === before) {
      await new Promise((again) => setTimeout(again));
      if (performance.now() - start > 5000) break;
    }
    await frame();
    times.push([performance.now() - start, !document.getElementById("problem").hidden]);
  }
  done(times);
})();
"""
WORDS = ("dog", "cat", "tree", "light", "person", "machine", "red", "s", "house plant")


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    """`rote serve` in a process of its own: its address and the process."""
    command = [sys.executable, "-m", "rote", "serve", str(folder), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        said = ""
        while server.stdout and not said.rstrip().endswith("}"):
            said += server.stdout.readline()
        try:
            yield json.loads(said)["address"], server.pid
        finally:
            server.terminate()


@contextmanager
def browsing() -> Iterator[webdriver.Chrome]:
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        sys.exit("no chromium and chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,1000"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options, Service(driver))
    browser.set_script_timeout(600)
    try:
        yield browser
    finally:
        browser.quit()


class Clock:
    """Processor time of a process since it was last asked, which does not depend on what else the machine does."""

    def __init__(self, process: int) -> None:
        self._stat, self._last = Path(f"/proc/{process}/stat"), 0.0
        self.seconds()

    def seconds(self) -> float:
        fields = self._stat.read_text().rpartition(")")[2].split()
        now = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        self._last, spent = now, now - self._last
        return spent


def row(what: str, times: list[float], problems: int, clock: Clock) -> None:
    """A row of the table, in milliseconds."""
    ranked, processor = sorted(times), 1000 * clock.seconds() / len(times)
    numbers = [statistics.median(ranked), ranked[int(0.95 * (len(ranked) - 1))], ranked[-1]]
    shown = " | ".join(f"{1000 * seconds:,.0f}" for seconds in numbers)
    print(f"| {what} | {len(times):,} | {shown} | {processor:,.0f} | {problems} |", flush=True)


def moved(browser: webdriver.Chrome, address: str, moves: int) -> tuple[list[float], int]:
    """Seconds of each move of the vocabulary or the heads, and how many were refused."""
    browser.get(address)
    draw = random.Random(0)
    sliders = (0, 4)
    times = browser.execute_async_script(MOVES, [[draw.choice(sliders), draw.random()] for _ in range(moves)])
    return [milliseconds / 1000 for milliseconds, _ in times], sum(refused for _, refused in times)


def timed(client: httpx.Client, address: str) -> tuple[float, httpx.Response]:
    start = time.perf_counter()
    answer = client.get(address)
    return time.perf_counter() - start, answer


def opened(client: httpx.Client, model: str) -> float:
    """Seconds until the page searches the model's facts; the page that waits for them looks again every second."""
    start = time.perf_counter()
    while 'role="search"' not in client.get("/inspector/model", params={"model": model}).text:
        time.sleep(1)
    return time.perf_counter() - start


def measured(client: httpx.Client, model: str) -> None:
    """Wait until every fact of the model was taken apart."""
    while 'data-again="1"' in client.get("/inspector/live", params={"model": model}).text:
        time.sleep(1)


def failed(answers: list[tuple[float, httpx.Response]]) -> int:
    return sum(answer.status_code != 200 for _, answer in answers)


def visit(draw: random.Random, model: str, run: str) -> list[str]:
    """The addresses that one person's browser asks for."""
    sizes = [f"vocab={draw.randint(50, 5000)}&dim={draw.randint(16, 64)}&head_dim=8&heads={draw.randint(1, 300)}"
             for _ in range(5)]  # fmt: skip
    return [
        "/planner", "/static/page.css", "/static/site.css", "/static/app.js", "/static/icon.svg", "/planner/plan",
        *(f"/planner/numbers?facts=countries&context=2&{size}" for size in sizes),
        *(f"/planner/numbers?facts=none&context=2&{size}" for size in sizes[:2]),
        "/runs", f"/runs/view?run={run}", f"/runs/live?run={run}", f"/runs/compare?a={run}&b={run}",
        "/inspector", f"/inspector/model?model={model}",
        *(f"/inspector/search?model={model}&search={word}" for word in WORDS),
        f"/inspector/fact?model={model}&row={draw.randrange(1000)}",
    ]  # fmt: skip


async def crowd(address: str, browsers: int, seconds: float, model: str, run: str) -> tuple[list[float], Counter[int]]:
    """Seconds and statuses of all answers to so many browsers at once."""
    times: list[float] = []
    statuses: Counter[int] = Counter()
    end = time.perf_counter() + seconds

    async def one(seed: int) -> None:
        draw = random.Random(seed)
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            while True:
                for path in visit(draw, model, run):
                    if time.perf_counter() > end:
                        return
                    start = time.perf_counter()
                    answer = await client.get(path)
                    times.append(time.perf_counter() - start)
                    statuses[answer.status_code] += 1

    await asyncio.gather(*(one(seed) for seed in range(browsers)))
    return times, statuses


def peak(process: int) -> float:
    """The most memory that a process ever had, in MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="0/wordnet")
    parser.add_argument("--run", default="0/fig4")
    parser.add_argument("--moves", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--browsers", type=int, default=50)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print("| what | answers | median, ms | 95 of 100, ms | slowest, ms | server's processor, ms each | errors |")
    print("|---|---|---|---|---|---|---|")
    with serving(given.folder) as (address, process), httpx.Client(base_url=address, timeout=60) as client:
        clock = Clock(process)
        row("inspector opens the model, server just started", [opened(client, given.model)], 0, clock)
        measured(client, given.model)  # so that only the answers are measured below
        clock.seconds()
        searches = [timed(client, f"/inspector/search?model={given.model}&search={word}") for word in WORDS * 10]
        row("search of its facts", [seconds for seconds, _ in searches], failed(searches), clock)
        facts = [timed(client, f"/inspector/fact?model={given.model}&row={number}") for number in range(20)]
        row("one fact taken apart", [seconds for seconds, _ in facts], failed(facts), clock)
    with serving(given.folder) as (address, process), browsing() as browser:
        clock = Clock(process)
        row("slider, while countries is being planned", *moved(browser, f"{address}/planner", given.moves), clock)
        while "plan-table" not in httpx.get(f"{address}/planner").text:
            time.sleep(0.5)
        clock.seconds()
        row("slider, with the plan of countries", *moved(browser, f"{address}/planner", given.moves), clock)
        row("slider, sizes alone", *moved(browser, f"{address}/planner?facts=none", given.moves), clock)
    with serving(given.folder) as (address, process):
        with httpx.Client(base_url=address, timeout=60) as client:
            opened(client, given.model)
            measured(client, given.model)
        clock = Clock(process)
        times, statuses = asyncio.run(crowd(address, given.browsers, given.seconds, given.model, given.run))
        bad = sum(count for status, count in statuses.items() if status != 200)
        row(f"{given.browsers} browsers for {given.seconds:g} s", times, bad, clock)
        print(f"\nstatuses {dict(statuses)}; {len(times) / given.seconds:,.0f} answers a second; "
              f"the server had {peak(process):,.0f} MiB at most")  # fmt: skip


if __name__ == "__main__":
    main()
