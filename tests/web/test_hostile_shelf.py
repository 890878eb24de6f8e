"""A page over strangers' folders: links, swaps, bad models and slow clients cost nobody but themselves."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path

import pytest

import rote
from hostile.ledgers import OBJECTS
from rote.experiments.ledgers.ledger import FILE

pytest.importorskip("fastapi")
GOOD = "/inspector/model?model=0/good"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory) -> Path:
    """A model and a run that are fine, others that are not, and a secret outside."""
    outside = tmp_path_factory.mktemp("outside")
    root = outside / "shown"
    secret = "random:vocab=7,context=2,facts=20,seed=7"
    rote.build("random:vocab=6,context=2,facts=9,seed=1").save(root / "good")
    rote.build(secret).save(outside / "secret")
    grid = {"vocab": 6, "context": 2, "dim": 3, "head_dim": 2, "heads": "1:3"}
    rote.sweep(grid, folder=root / "run", seeds=1, steps=5)
    rote.sweep(grid, folder=outside / "secret-run", seeds=2, steps=5)
    (root / "linked").mkdir()
    for file in (outside / "secret").iterdir():
        (root / "linked" / file.name).symlink_to(file)
    (root / "linked-run").mkdir()
    (root / "linked-run" / FILE).symlink_to(outside / "secret-run" / FILE)
    (root / "linked-folder").symlink_to(outside / "secret")
    for number, statements in enumerate(OBJECTS[:4]):
        (root / f"endless{number}").mkdir()
        shutil.copy(root / "run" / FILE, root / f"endless{number}" / FILE)
        with closing(sqlite3.connect(root / f"endless{number}" / FILE)) as ledger:
            ledger.executescript(statements)
    for name, (column, value) in DAMAGED.items():
        (root / name).mkdir()
        shutil.copy(root / "run" / FILE, root / name / FILE)
        with closing(sqlite3.connect(root / name / FILE)) as ledger:
            table, field = column.split(".")
            ledger.execute(f"UPDATE {table} SET {field} = ? WHERE rowid = (SELECT max(rowid) FROM {table})", (value,))
            ledger.commit()
    for name, change in HOSTILE.items():
        shutil.copytree(root / "good", root / name)
        config = json.loads((root / name / "config.json").read_text())
        change(config)
        (root / name / "config.json").write_text(json.dumps(config))
    return root


HOSTILE = {
    "layers": lambda config: config["spec"].update(layers=2**31),
    "heads": lambda config: config["spec"].update(heads=2**31),
    "generator": lambda config: config["facts"].update(source="random:vocab=5000,context=2,facts=16000000,seed=1"),
    "pipe": lambda config: config["facts"].update(source="/dev/zero"),
    "list": lambda config: config.update(spec=[]),
    "provenance": lambda config: config.update(provenance=None),
}


DAMAGED: dict[str, tuple[str, object]] = {
    "identity-number": ("run.identity", 7),
    "identity-deep": ("run.identity", "[" * 100_000),
    "about-text": ("run.about", "no JSON"),
    "cells-list": ("cells.cell", "[]"),
    "results-digits": ("results.result", '{"accuracy": ' + "9" * 10_000 + "}"),
    "seeds": ("trials.seed", "x"),
    "times": ("trials.ended", 5),
}


@pytest.fixture(scope="module")
def client(shelf):
    from fastapi.testclient import TestClient

    from rote.web.app import make_app

    with TestClient(make_app([shelf]), base_url="http://localhost", follow_redirects=False) as client:
        yield client
        client.app.state.workers.close()


def test_links_out_of_the_folder_are_neither_listed_nor_opened(client):
    models, runs = client.get("/inspector").text, client.get("/runs").text
    assert "good" in models
    assert "linked" not in models + runs
    for address in ("/inspector/model?model=0/linked", "/inspector/fact?words=1&model=0/linked-folder",
                    "/runs/view?run=0/linked-run", "/runs/compare?a=0/run&b=0/linked-run"):  # fmt: skip
        answer = client.get(address)
        assert answer.status_code == 404
        assert "20 of 20" not in answer.text


def test_a_folder_that_is_swapped_for_a_link_while_it_is_read_leads_nowhere_else(shelf, client):
    swapped, real, stop = shelf / "swapped", shelf / "real", threading.Event()
    shutil.copytree(shelf / "good", real)

    def swap() -> None:
        while not stop.is_set():
            os.rename(real, swapped)
            os.rename(swapped, real)
            os.symlink(shelf.parent / "secret", swapped)
            os.unlink(swapped)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(40):
            answer = client.get("/inspector/model?model=0/swapped")
            assert answer.status_code in (200, 400, 404)
            assert "20 of 20" not in answer.text
    finally:
        stop.set()
        thread.join()
        shutil.rmtree(real)


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_bad_model_is_one_message_and_no_other_waits_for_it(client, name):
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(client.get(f"/inspector/model?model=0/{name}").status_code))
    start = time.monotonic()
    asking.start()
    assert "9 of 9" in client.get(GOOD).text
    assert time.monotonic() - start < 10
    asking.join()
    assert answers[0] in (200, 400)


@pytest.mark.parametrize("number", range(4))
def test_an_endless_ledger_is_one_message(client, number):
    answer = client.get(f"/runs/view?run=0/endless{number}")
    assert answer.status_code == 400
    assert "does not create" in answer.text
    assert client.get("/runs/view?run=0/run").status_code == 200


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_ledger_is_one_message(client, name):
    """Not status 500, in the list and in every view of it."""
    answer = client.get(f"/runs/view?run=0/{name}")
    assert answer.status_code in (200, 400)
    assert 'role="alert"' in answer.text or answer.status_code == 200
    assert client.get(f"/runs/compare?a=0/run&b=0/{name}").status_code in (200, 400)
    assert client.get("/runs").status_code == 200


def test_work_that_breaks_its_limits_is_stopped_and_rests():
    from rote.web.workers import Stopped, Workers

    workers = Workers(memory=2**28, seconds=3.0)
    try:
        with pytest.raises(Stopped, match="MiB"):
            workers.result("memory", "bomb", "builtins.bytearray", 2**31)
        with pytest.raises(Stopped, match="MiB"):
            workers.result("memory", "bomb", "builtins.bytearray", 1)  # it rests
        with pytest.raises(Stopped, match="longer than 3 s"):
            workers.result("time", "loop", "time.sleep", 60.0)
        assert workers.result("other", "fine", "time.sleep", 0.0) is None
    finally:
        workers.close()


def test_a_request_that_was_given_up_keeps_no_other_from_its_answer():
    """Both wait for one process; when the first has waited long enough, the process ends and the second is told."""
    import asyncio

    from rote.web.workers import Stopped, Workers

    workers = Workers(seconds=2.0)

    async def asked(after: float) -> float:
        await asyncio.sleep(after)
        start = time.monotonic()
        with pytest.raises(Stopped, match="longer than 2 s"):
            await workers.ask("one", "loop", "time.sleep", 60.0)
        return time.monotonic() - start

    async def both() -> tuple[float, float]:
        await asyncio.to_thread(workers.result, "one", "fine", "time.sleep", 0.0)
        return await asyncio.gather(asked(0.0), asked(1.0))

    try:
        first, second = asyncio.run(both())
        assert second < first - 0.3
    finally:
        workers.close()


def test_a_folder_that_costs_more_to_open_than_its_bytes_explain_ends_its_process(tmp_path):
    """By CPU time, which no clock of the server counts; the process that is ended is no thread of the page's."""
    (tmp_path / "config.json").write_bytes(b" " * 1000)
    spin = (
        "import os, sys, time\n"
        "from rote.web import workers\n"
        "workers._folders.append(os.open(sys.argv[1], os.O_RDONLY))\n"
        "with workers.opening():\n"
        "    while time.process_time() < 60: pass\n"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    ended = subprocess.run([sys.executable, "-c", spin, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGXCPU
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 15


def test_the_time_for_opening_grows_with_the_bytes_on_the_disk_and_not_with_holes(tmp_path):
    from rote.web.workers import _bytes_below

    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        with (tmp_path / "hole").open("wb") as file:
            file.truncate(2**32)
        assert _bytes_below(folder) < 2**20
        (tmp_path / "file").write_bytes(os.urandom(2**22))
        assert 2**22 <= _bytes_below(folder) < 2**23
    finally:
        os.close(folder)


def test_what_cannot_be_opened_is_read_once_until_a_file_of_it_changes(shelf, tmp_path, monkeypatch):
    from rote.web import work, workers
    from rote.web.inspector import Place
    from rote.web.shelf import Entry

    read = []

    def opened(entry: Entry, place: Place):
        read.append(entry)
        return pages_of(entry, place)

    pages_of = work.ModelPages
    shutil.copytree(shelf / "list", tmp_path / "list")
    folder = os.open(tmp_path / "list", os.O_RDONLY)
    monkeypatch.setattr(workers, "_folders", [folder])
    monkeypatch.setattr(work, "opening", nullcontext)
    monkeypatch.setattr(work, "ModelPages", opened)
    monkeypatch.chdir(tmp_path)
    model, entry = work._Model(), Entry("0/list", tmp_path / "list", Path("list"))
    try:
        for _ in range(5):
            with pytest.raises(rote.RoteError, match="spec"):
                model.pages(entry, Place(tmp_path, (tmp_path,)))
        assert len(read) == 1
        assert isinstance(model._error, str)  # an error would hold all that was read
        shutil.copy(shelf / "good" / "config.json", tmp_path / "list" / "config.json")
        pages = model.pages(entry, Place(tmp_path, (tmp_path,)))
        assert model.pages(entry, Place(tmp_path, (tmp_path,))) is pages
        assert len(read) == 2
    finally:
        os.close(folder)


def test_a_shelf_that_takes_long_is_listed_in_parts(tmp_path, monkeypatch):
    """Every folder takes two seconds: two are read for each request, and none a second time before it changes."""
    from rote.web import work, workers
    from rote.web.inspector import UNREAD, Stated
    from rote.web.shelf import Entry

    clock, read = [0.0], []

    def slow(entry: Entry) -> Stated:
        clock[0] += 2.0
        read.append(entry.name)
        return Stated(entry, "facts", None)

    entries = [Entry(f"0/{name}", tmp_path / name, Path(name)) for name in "abcde"]
    for entry in entries:
        entry.path.mkdir()
        (entry.path / "config.json").write_text("{}")
    folder = os.open(tmp_path, os.O_RDONLY)
    monkeypatch.setattr(workers, "_folders", [folder])
    monkeypatch.setattr(work, "_lists", {})
    monkeypatch.setattr(work.time, "process_time", lambda: clock[0])
    monkeypatch.chdir(tmp_path)

    def listed() -> str:
        said = work._listed(entries, slow, ("config.json", "certificate.json"), Stated.unread)
        assert [one.entry for one in said] == entries
        return "".join("-" if one.problem == UNREAD else "x" for one in said)

    try:
        assert [listed() for _ in range(4)] == ["xx---", "xxxx-", "xxxxx", "xxxxx"]
        assert len(read) == 5
        (entries[1].path / "config.json").write_text("{ }")
        assert listed() == "xxxxx"
        assert read[5:] == ["0/b"]
    finally:
        os.close(folder)


def test_a_list_holds_no_more_of_a_folder_than_it_shows(shelf, tmp_path):
    """Twenty folders whose source has 15 MB made a page of 300 MB, and a server of 3 GB."""
    from fastapi.testclient import TestClient

    from rote.web.app import make_app

    long = "s" * 2 * 10**6
    for number in range(4):
        folder = shutil.copytree(shelf / "good", tmp_path / f"long{number}")
        for name, change in (
            ("config.json", lambda content: content["facts"].update(source=long)),
            ("certificate.json", lambda content: content.update(measured={long: long}, architecture=long)),
        ):
            content = json.loads((folder / name).read_text())
            change(content)
            (folder / name).write_text(json.dumps(content))
    folder = shutil.copytree(shelf / "run", tmp_path / "run")
    with closing(sqlite3.connect(folder / FILE)) as ledger:
        ledger.execute("UPDATE run SET identity = ?", (json.dumps({"experiment": long, "protocol": long}),))
        ledger.commit()
    with TestClient(make_app([tmp_path]), base_url="http://localhost") as client:
        for page in ("/inspector", "/runs"):
            answer = client.get(page)
            assert answer.status_code == 200
            assert len(answer.content) < 10**5
        client.app.state.workers.close()


def test_each_dropped_table_has_a_process_of_its_own_that_ends_with_it(client):
    """One that has to be stopped leaves no other table waiting."""
    for content in (b"a,b\nx,y\n", b"\xff\xfe\x00"):
        client.post("/planner/table?name=t.csv", content=content, headers={"Origin": "http://localhost"})
        assert not [key for key in client.app.state.workers._workers if key[0] == "table"]


@pytest.mark.parametrize("alike", [True, False])
def test_tables_that_many_drop_at_once_are_all_read(tmp_path, alike):
    """A process is neither ended while another request waits for it nor stopped to make room."""
    import asyncio

    import httpx

    from rote.web.app import make_app

    app = make_app([tmp_path])

    async def dropped() -> list[int]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=100) as browser:

            async def drop(number: int) -> int:
                content = b"a,b\nx,y\n" if alike else f"a,b\nx,y{number}\n".encode()
                origin = {"Origin": "http://localhost"}
                return (await browser.post("/planner/table?name=t.csv", content=content, headers=origin)).status_code

            return await asyncio.gather(*map(drop, range(40)))

    try:
        assert asyncio.run(dropped()) == [200] * 40
        assert not app.state.workers._workers
    finally:
        app.state.workers.close()


@contextmanager
def serving(folder: Path, start: tuple[str, ...] = (sys.executable, "-m", "rote")):
    """`rote serve` itself, with what it says on standard error."""
    words = [*start, "serve", str(folder), "--port", "0", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = ""
        while not said.rstrip().endswith("}"):
            line = server.stdout.readline()
            assert line, server.stderr.read() if server.stderr else ""
            said += line
        try:
            yield server, int(json.loads(said)["address"].rpartition(":")[2])
        finally:
            if server.poll() is None:
                server.kill()


def test_slow_clients_do_not_keep_honest_ones_out_and_ctrl_c_ends_at_once(shelf):
    import httpx

    with serving(shelf) as (server, port), httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
        slow = []
        for _ in range(450):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(b"GET /planner HTTP/1.1\r\nHost: localhost")
            slow.append(connection)
        start = time.monotonic()
        for address in ("/planner/numbers", "/static/app.js", GOOD, "/planner/plan"):
            assert client.get(address).status_code == 200
        assert time.monotonic() - start < 15
        # Clients that go away in the middle of an upload.
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", port)) as leaving:
                leaving.sendall(
                    b"POST /planner/table?name=a.csv HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\na,b"
                )
        time.sleep(0.3)
        assert client.get("/planner/numbers").status_code == 200
        # A plan that takes seconds is being computed, and connections are open.
        slow.append(socket.create_connection(("127.0.0.1", port)))
        slow[-1].sendall(b"GET /planner/plan?facts=airports HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.2)
        start = time.monotonic()
        server.send_signal(signal.SIGINT)
        said = server.communicate(timeout=20)[1]
        assert time.monotonic() - start < 2
        assert server.returncode == 130
        assert "Traceback" not in said
        assert said.strip().splitlines()[-1] == "rote: interrupted; nothing was written"
        for connection in slow:
            connection.close()


HASTY = """
import sys
from rote.web import connections
connections.HEADER_SECONDS, connections.BODY_SECONDS = 0.6, 1.2
from rote.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [
        (b"GET /planner HTTP/1.1\r\nHost: localhost\r\nX: ", 0.6),
        (b"POST /planner/table?name=a.csv HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\na", 1.2),
    ],
    ids=["header", "body"],
)
def test_a_request_that_trickles_in_is_ended(tmp_path, sent, seconds):
    """However many bytes come meanwhile; the limits are ten and thirty seconds, here shorter ones."""
    with serving(tmp_path, (sys.executable, "-c", HASTY)) as (_, port):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(sent)
        start = time.monotonic()
        with suppress(ConnectionError):
            while time.monotonic() < start + 20:
                connection.sendall(b"x")
                time.sleep(0.1)
        assert seconds - 0.1 < time.monotonic() - start < seconds + 3
        connection.close()
