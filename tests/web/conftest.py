"""A site to test: a model, a run, and a real browser where there is one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,1000",
)  # fmt: skip


def pytest_collection_modifyitems(items) -> None:
    """Laws are fitted in a thread of the server's: filters that a fit sets for itself end with the test around it."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning"))


@dataclass(frozen=True)
class Site:
    """A server that is running, and the folder it shows."""

    address: str
    folder: Path


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """A folder with a table, a model built from it, and a run; a secret lies outside."""
    from rote.constructions.build import build
    from rote.experiments.lookups.schedule import LookupSchedule
    from rote.experiments.reproduce import reproduce
    from rote.folders import write_folder
    from rote.papers import figure_named
    from rote.tasks.facts import facts

    outside = tmp_path_factory.mktemp("home")
    root = outside / "shown"
    root.mkdir()
    rows = [
        f"{kind},{thing},{kind[0]}{number % 5}"
        for kind in ("colour", "size")
        for number, thing in enumerate("abcdefgh")
    ]
    (root / "facts.csv").write_text("kind,thing,answer\n" + "\n".join(rows) + "\n")
    task = facts(root / "facts.csv")
    built = build(task, method="dana2025.theorem1")
    write_folder(root / "models" / "small", built.model, task.origin, built.provenance, built.certificate)
    write_folder(outside / "secret", built.model, task.origin, built.provenance, built.certificate)
    (root / "leads-out").symlink_to(outside / "secret")
    reproduce(LookupSchedule.of(figure_named("dana2025.fig4"), quick=True, repeats=1), root / "fig4")
    return root


@pytest.fixture(scope="session")
def client(folder):
    from fastapi.testclient import TestClient

    from rote.web import plans
    from rote.web.app import make_app

    # Whatever opens the planner makes the server plan all of `countries`, which takes long where every call is
    # type-checked; the browser's server does, here a few of them will do.
    with (
        pytest.MonkeyPatch.context() as patch,
        TestClient(make_app([folder]), base_url="http://localhost", follow_redirects=False) as client,
    ):
        patch.setattr(plans, "source_of", lambda name: f"{name}:facts=40,seed=1")
        yield client
        client.app.state.workers.close()


@pytest.fixture(scope="session")
def site(folder):
    """`rote serve` itself, in a process of its own on a free port of this machine."""
    command = [sys.executable, "-m", "rote", "serve", str(folder), "--port", "0", "--json"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            said = ""
            while not said.rstrip().endswith("}"):
                line = server.stdout.readline()
                assert line, f"the server ended: {said}"
                said += line
            yield Site(json.loads(said)["address"], folder)
        finally:
            server.terminate()
            server.wait(20)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A real headless Chromium; without one the tests that need it are skipped and say so."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no chromium and chromedriver on this machine: the pages were not tried in a browser")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options, Service(driver))
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium):
    """The browser with its logs emptied; at the end no console error and no request to another host is left in them."""
    for kind in ("browser", "performance"):
        chromium.get_log(kind)
    yield chromium
    errors = [entry["message"] for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"]
    # A refusal is an answer: browsers log its status, and tests of refusals look at its message.
    assert [message for message in errors if "status of 4" not in message] == []
    sent = (json.loads(entry["message"])["message"] for entry in chromium.get_log("performance"))
    addresses = {event["params"]["request"]["url"] for event in sent if event["method"] == "Network.requestWillBeSent"}
    assert {url for url in addresses if not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:"))} == set()
