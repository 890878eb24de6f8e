"""A stranger's run is data: whatever its ledger holds, every command ends in an answer or one message."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

import rote
from hostile.ledgers import ENDLESS, OBJECTS, Ledgers
from hostile.watch import watched
from rote.cli import main
from rote.errors import InputError
from rote.experiments.ledgers.ledger import FILE, Ledger, TrialRow
from rote.experiments.ledgers.schema import checksum
from rote.experiments.runs.export import export_run
from rote.experiments.runs.listing import list_runs, show_run
from rote.experiments.runs.merge import merge_runs
from rote.report.reporting import report_on


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "sweep"
    rote.sweep({"vocab": 6, "context": 2, "dim": 3, "head_dim": 2, "heads": "1:3"}, folder=folder, seeds=1, steps=5)
    return folder


@pytest.fixture
def copy(run, tmp_path) -> Path:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / FILE).write_bytes((run / FILE).read_bytes())
    return tmp_path / "run"


def changed(folder: Path, statement: str, *values: object) -> None:
    """Change a ledger and compute its checksums anew, as whoever means harm would."""
    with closing(sqlite3.connect(folder / FILE)) as ledger:
        ledger.execute(statement, values)
        ledger.create_function("checksum", 4, lambda *row: 0 if bytes in map(type, row) else checksum(*row))
        ledger.execute(
            "UPDATE trials SET checksum = (SELECT checksum(cells.cell, trials.seed, results.result, trials.seconds) "
            "FROM cells JOIN results ON results.trial = trials.id WHERE cells.id = trials.cell)"
        )
        ledger.commit()


def read_everywhere(folder: Path) -> list[str]:
    """Messages of every use that reads a run; nothing else may be raised, and nothing may take long."""
    uses = (
        lambda: [run.summary() for run in list_runs(folder.parent)],
        lambda: show_run(folder).summary(),
        lambda: rote.fit_run(folder),
        lambda: report_on([folder]),
        lambda: export_run(folder, folder.parent / "trials.csv"),
        lambda: merge_runs([folder, folder], folder.parent / "merged"),
    )
    messages = []
    start = time.process_time()
    for use in uses:
        try:
            use()
        except InputError as error:
            messages.append(str(error))
    assert time.process_time() - start < 5
    assert not list(folder.parent.glob(".*"))
    return messages


@pytest.mark.parametrize("column", ["run.identity", "run.about", "cells.cell", "results.result"])
@pytest.mark.parametrize(
    "value",
    [7, b"\xff", "no JSON", "[]", '"x"', "[" * 100_000, '{"a":' * 100_000, '{"trials": ' + "9" * 10_000 + "}",
     '{"a": "\\ud800"}'],
    ids=["number", "bytes", "text", "list", "string", "deep", "deep object", "digits", "surrogate"],
)  # fmt: skip
def test_text_that_is_no_object_of_json_is_one_message(copy, column, value):
    table, name = column.split(".")
    rows = "" if table == "run" else " WHERE rowid = 1"
    changed(copy, f"UPDATE {table} SET {name} = ?{rows}", value)
    messages = read_everywhere(copy)
    assert messages
    assert all(str(copy) in message for message in messages)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("seed", -1), ("seed", "x"), ("seed", 1.5), ("seconds", float("inf")), ("seconds", -1.0), ("seconds", "long"),
        ("ended", 5), ("ended", "yesterday"), ("ended", "2026-01-01"), ("ended", "9999-12-31T23:59:59-14:00"),
        ("cell", 99), ("checksum", "x"),
    ],
)  # fmt: skip
def test_values_of_another_type_are_one_message(copy, column, value):
    with closing(sqlite3.connect(copy / FILE)) as ledger:
        ledger.execute(f"UPDATE trials SET {column} = ? WHERE id = (SELECT max(id) FROM trials)", (value,))
        ledger.commit()
    assert any("damaged" in message for message in read_everywhere(copy)) or column == "cell"


@pytest.mark.parametrize(
    "content",
    [
        '{"spec": []}', '{"spec": {"heads": "many"}}', '{"spec": {"architecture": 7}}', '{"protocol": 3, "spec": {}}',
        '{"accuracy": []}', '{"accuracy": 1e999}', '{"accuracy": ' + "8" * 400 + "}", "{}", '{"curve": 5}',
    ],
)  # fmt: skip
def test_json_of_another_shape_is_one_message(copy, content):
    for statement in ("UPDATE cells SET cell = ? WHERE id = 1", "UPDATE results SET result = ?"):
        changed(copy, statement, content)
        read_everywhere(copy)


def test_a_clock_of_the_year_2999_is_read(copy, capsys):
    changed(copy, "UPDATE trials SET ended = '2999-01-01T00:00:00+00:00'")
    for words in (["runs", "list", str(copy.parent)], ["runs", "show", str(copy)]):
        assert main(words) == 0
    assert "2999" in capsys.readouterr().out
    read_everywhere(copy)


@pytest.mark.parametrize("name", ["trials.csv", "trials.parquet"])
@pytest.mark.parametrize("plant", [lambda path: path.symlink_to("../victim"), os.mkfifo], ids=["link", "pipe"])
def test_trials_are_exported_beside_what_was_planted(run, tmp_path, name, plant):
    (tmp_path / "victim").write_text("precious")
    out = tmp_path / "out"
    out.mkdir()
    plant(out / f".{name}.part")
    plant(out / name)
    assert main(["runs", "export", str(run), "-o", str(out / name)]) == 0
    assert (tmp_path / "victim").read_text() == "precious"
    assert (out / name).is_file()
    assert not (out / name).is_symlink()


def test_a_figure_of_strange_trials_is_one_message(copy):
    changed(copy, "UPDATE run SET identity = ?", '{"experiment": "dana2025.fig4", "protocol": "fast"}')
    changed(copy, "UPDATE results SET result = ?", '{"accuracy": {"a": []}}')
    read_everywhere(copy)
    changed(copy, "UPDATE run SET identity = ?", '{"experiment": "dana2025.fig4", "protocol": "unknown"}')
    read_everywhere(copy)


@pytest.mark.parametrize("statements", OBJECTS[:5])
def test_views_triggers_and_computed_columns_are_rejected_before_they_run(copy, statements):
    assert "RECURSIVE" in ENDLESS
    with closing(sqlite3.connect(copy / FILE)) as ledger:
        ledger.executescript(statements)
    messages = read_everywhere(copy)
    assert any("does not create" in message for message in messages)
    with pytest.raises(InputError, match="does not create"), Ledger.open(copy, {}, {}):
        pass


def test_links_pipes_and_holes_in_the_place_of_a_ledger_are_rejected(copy, run):
    file = copy / FILE
    file.unlink()
    file.symlink_to(run / FILE)
    assert all("is a link" in message for message in read_everywhere(copy) if "neither" not in message)
    before = (run / FILE).read_bytes()
    with pytest.raises(InputError, match="is a link"), Ledger.open(copy, {}, {}):
        pass
    assert (run / FILE).read_bytes() == before
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(InputError, match="not a plain file"):
        Ledger.read(copy)
    file.unlink()
    file.write_bytes(before)
    os.truncate(file, 2**34)
    with pytest.raises(InputError, match="too many"):
        Ledger.read(copy)


def content(rows: list[TrialRow]) -> list[TrialRow]:
    """What a trial's checksum covers: everything but when it ended, which nothing is computed from."""
    return [replace(row, ended="") for row in rows]


def test_every_flipped_bit_is_noticed_or_harmless(copy, run):
    data, rows = (run / FILE).read_bytes(), Ledger.read(run)[1]
    for number in range(0, 8 * len(data), 8 * len(data) // 120):
        flipped = bytearray(data)
        flipped[number // 8] ^= 1 << number % 8
        (copy / FILE).write_bytes(flipped)
        read = None
        with suppress(InputError):
            list_runs(copy)
            read = content(Ledger.read(copy)[1])
        assert read in (None, content(rows))


def test_a_schema_that_is_not_text_is_one_message(tmp_path):
    """A generated case in which SQLite quotes bytes of the schema that Python cannot read."""
    assert watched(Ledgers(tmp_path / "store"), 1966, tmp_path / "scratch").flaws == ()


def test_reading_leaves_no_file_beside_a_ledger(copy):
    read_everywhere(copy)
    assert [path.name for path in copy.iterdir()] == [FILE]


def test_a_merge_that_is_killed_leaves_nothing(copy, tmp_path):
    words = [sys.executable, "-m", "rote", "runs", "merge", str(copy), str(copy), "-o", str(tmp_path / "merged")]
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        time.sleep(0.3)
        process.send_signal(number)
        process.communicate(timeout=20)
        assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_the_command_line_names_the_ledger(copy, capsys):
    changed(copy, "UPDATE run SET about = 7")
    assert main(["runs", "show", str(copy)]) == 2
    assert str(copy) in capsys.readouterr().err


@pytest.mark.parametrize("name", ["trials.csv", "trials.parquet"])
def test_a_disk_that_takes_no_more_is_named(run, tmp_path, name):
    import resource

    done = subprocess.run(
        [sys.executable, "-m", "rote", "runs", "export", str(run), "-o", str(tmp_path / name)], capture_output=True,
        text=True, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)),
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(f"rote: {tmp_path / name}: cannot be written")
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def with_log(run: Path, to: Path) -> Path:
    """A copy of a run with failures in SQLite's log alone, as a killed process leaves them, without shared memory."""
    to.mkdir()
    (to / FILE).write_bytes((run / FILE).read_bytes())
    with closing(sqlite3.connect(to / FILE, isolation_level=None)) as ledger:
        ledger.execute("PRAGMA journal_mode = WAL")
        ledger.execute("INSERT INTO failures SELECT id, 7, 'only in the log', '2026-01-01T00:00:00+00:00' FROM cells")
        kept = {name: (to / name).read_bytes() for name in (FILE, f"{FILE}-wal")}
    for file in to.iterdir():
        file.unlink()
    for name, data in kept.items():
        (to / name).write_bytes(data)
    return to


def test_a_log_of_writes_is_read_and_nothing_is_left_beside_it(run, tmp_path):
    folder = with_log(run, tmp_path / "run")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(before) == [FILE, f"{FILE}-wal"]
    with Ledger.reading(folder) as ledger:
        assert {failed.reason for failed in ledger.failures()} == {"only in the log"}
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    read_everywhere(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["victim", f"{FILE}-shm"])
def test_shared_memory_that_is_another_file_is_not_written(run, tmp_path, name):
    folder = with_log(run, tmp_path / "run")
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious" * 5000)
    if name == "victim":
        (folder / f"{FILE}-shm").symlink_to(victim)
    else:
        os.link(victim, folder / f"{FILE}-shm")
    assert main(["runs", "show", str(folder)]) == 0
    assert victim.read_bytes() == b"precious" * 5000


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "noise"])
def test_a_log_that_is_none_is_one_message_or_ignored(run, tmp_path, kind, capsys):
    folder = with_log(run, tmp_path / "run")
    log = folder / f"{FILE}-wal"
    log.unlink()
    makers = {
        "pipe": lambda: os.mkfifo(log),
        "link": lambda: log.symlink_to("/etc/passwd"),
        "folder": log.mkdir,
        "noise": lambda: log.write_bytes(bytes(range(256)) * 20),
    }
    makers[kind]()
    before = sorted(path.name for path in folder.iterdir())
    assert main(["runs", "show", str(folder)]) == (0 if kind == "noise" else 2)
    assert kind == "noise" or str(log) in capsys.readouterr().err.replace("\n", "")
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("how", [os.link, os.symlink])
def test_a_run_is_not_resumed_into_a_file_elsewhere(tmp_path, suffix, how):
    folder, victim = tmp_path / "run", tmp_path / "victim"
    grid = {"vocab": 6, "context": 2, "dim": 3, "head_dim": 2, "heads": "1"}
    rote.sweep(grid, folder=folder, seeds=1, steps=2)
    victim.write_bytes(b"precious" * 5000)
    how(victim, folder / f"{FILE}{suffix}")
    with pytest.raises(InputError, match=suffix):
        rote.sweep(grid, folder=folder, seeds=1, steps=2)
    assert victim.read_bytes() == b"precious" * 5000
