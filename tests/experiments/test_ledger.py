"""The ledger: a trial is committed when it ends, whatever happens next."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

from rote.errors import InputError
from rote.experiments.ledgers.ledger import Ledger, TrialKey

IDENTITY = {"figure": "fig1a", "protocol": "fast"}

FORMAT_1 = """
CREATE TABLE run (format INTEGER NOT NULL, identity TEXT NOT NULL, about TEXT NOT NULL);
CREATE TABLE trials (cell TEXT NOT NULL, seed INTEGER NOT NULL, result TEXT NOT NULL, seconds REAL NOT NULL,
    ended TEXT NOT NULL, PRIMARY KEY (cell, seed)) WITHOUT ROWID;
"""


def test_rows_come_back_in_order_whatever_order_they_ended_in(tmp_path):
    with Ledger.open(tmp_path, IDENTITY, {"command": "test"}) as ledger:
        for heads, seed in [(6, 1), (1, 0), (6, 0)]:
            ledger.record({"heads": heads, "dim": 3}, seed, {"accuracy": heads / 10}, 0.5)
        assert TrialKey.of({"dim": 3, "heads": 6}, 1) in ledger.done()
    about, rows = Ledger.read(tmp_path)
    assert about == {"identity": IDENTITY, "about": {"command": "test"}}
    assert [(row.cell["heads"], row.seed) for row in rows] == [(1, 0), (6, 0), (6, 1)]
    assert rows[2].result == {"accuracy": 0.6}


def test_a_killed_process_loses_nothing_that_ended(tmp_path):
    script = textwrap.dedent(f"""
        import itertools, sys
        from rote.experiments.ledgers.ledger import Ledger
        with Ledger.open({str(tmp_path)!r}, {IDENTITY!r}, {{}}) as ledger:
            for seed in itertools.count():
                ledger.record({{"heads": 1}}, seed, {{"accuracy": 0.5}}, 0.0)
                print(seed, flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        said = [int(process.stdout.readline()) for _ in range(25)]
        os.kill(process.pid, signal.SIGKILL)
    with Ledger.open(tmp_path, IDENTITY, {}) as ledger:
        seeds = {key.seed for key in ledger.done()}
    assert set(said) <= seeds
    assert seeds == set(range(len(seeds)))


def test_another_identity_is_refused_and_named(tmp_path):
    with Ledger.open(tmp_path, IDENTITY, {}):
        pass
    with (
        pytest.raises(InputError, match="protocol 'fast', now 'paper'"),
        Ledger.open(tmp_path, {**IDENTITY, "protocol": "paper"}, {}),
    ):
        pass


def test_the_second_writer_is_told_who_the_first_is(tmp_path):
    with (
        Ledger.open(tmp_path, IDENTITY, {}),
        pytest.raises(InputError, match=f"process {os.getpid()} on .* is writing"),
        Ledger.open(tmp_path, IDENTITY, {}),
    ):
        pass
    with Ledger.open(tmp_path, IDENTITY, {}) as ledger:
        assert ledger.done() == set(), "the lock ends with its holder"


def test_a_holder_that_was_killed_holds_nothing(tmp_path):
    script = f"""
import time
from rote.experiments.ledgers.ledger import Ledger
with Ledger.open({str(tmp_path)!r}, {IDENTITY!r}, {{}}):
    print("open", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        with (
            pytest.raises(InputError, match=f"process {process.pid} on"),
            Ledger.open(tmp_path, IDENTITY, {}),
        ):
            pass
        process.kill()
    assert (tmp_path / ".owner.json").exists(), "what it said of itself stays behind, and decides nothing"
    with Ledger.open(tmp_path, IDENTITY, {}):
        pass


def test_a_ledger_of_format_1_is_read_and_resumed(tmp_path):
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as old:
        old.executescript(FORMAT_1)
        old.execute("INSERT INTO run VALUES (1, ?, '{}')", ('{"figure":"fig1a","protocol":"fast"}',))
        for cell, seed in (('{"heads":2}', 1), ('{"heads":2}', 0), ('{"heads":1}', 0)):
            old.execute(
                "INSERT INTO trials VALUES (?, ?, '{\"accuracy\": 0.5}', 0.25, '2025-01-01T00:00:00+00:00')",
                (cell, seed),
            )
    before = Ledger.read(tmp_path)[1]
    assert [(row.cell["heads"], row.seed, row.result, row.seconds) for row in before] == [
        (1, 0, {"accuracy": 0.5}, 0.25), (2, 0, {"accuracy": 0.5}, 0.25), (2, 1, {"accuracy": 0.5}, 0.25),
    ]  # fmt: skip
    with Ledger.open(tmp_path, IDENTITY, {}) as ledger:
        ledger.record({"heads": 3}, 0, {"accuracy": 0.1}, 0.0)
    assert Ledger.read(tmp_path)[1][:3] == before
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as new:
        assert new.execute("SELECT format FROM run").fetchone() == (2,)


def test_a_newer_format_is_refused_and_left_alone(tmp_path):
    with Ledger.open(tmp_path, IDENTITY, {}):
        pass
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as newer:
        newer.execute("UPDATE run SET format = 99")
    for use in (lambda: Ledger.read(tmp_path), lambda: Ledger.open(tmp_path, IDENTITY, {}).__enter__()):
        with pytest.raises(InputError, match="has format 99"):
            use()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_damaged_ledger_is_named_and_never_half_used(tmp_path, share):
    with Ledger.open(tmp_path, IDENTITY, {}) as ledger:
        for seed in range(400):
            ledger.record({"heads": seed % 7}, seed, {"accuracy": 0.5, "note": "x" * 200}, 0.0)
    path = tmp_path / "ledger.sqlite"
    content = bytearray(path.read_bytes())
    at = int(len(content) * share)
    content[at : at + 5000] = bytes(5000)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"ledger\.sqlite: is damaged"):
        Ledger.read(tmp_path)
    with pytest.raises(InputError, match=r"ledger\.sqlite: is damaged"), Ledger.open(tmp_path, IDENTITY, {}):
        pass
    assert path.read_bytes() == content, "nothing was written to it"


def test_a_trial_whose_content_changed_is_named(tmp_path):
    with Ledger.open(tmp_path, IDENTITY, {}) as ledger:
        ledger.record({"heads": 1}, 3, {"accuracy": 0.125}, 0.0)
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(path.read_bytes().replace(b"0.125", b"0.925"))
    with pytest.raises(InputError, match=r"seed 3 of .*heads.* is not what was written"):
        Ledger.read(tmp_path)


def test_a_failed_trial_is_kept_with_its_reason_until_it_ends(tmp_path):
    key = TrialKey.of({"heads": 1}, 0)
    with Ledger.open(tmp_path, IDENTITY, {}) as ledger:
        ledger.record_failure(key, "out of memory")
        ledger.record_failure(key, "out of memory again")
        assert [(failed.key, failed.reason) for failed in ledger.failures()] == [(key, "out of memory again")]
        assert ledger.done() == set()
    with Ledger.open(tmp_path, IDENTITY, {}) as ledger:
        ledger.record({"heads": 1}, 0, {"accuracy": 1.0}, 0.0)
        assert not ledger.failures()
        assert ledger.done() == {key}


def test_a_clock_that_jumps_changes_nothing_but_what_is_shown(tmp_path, monkeypatch):
    times = iter(["2031-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00"])
    monkeypatch.setattr("rote.experiments.ledgers.ledger._now", lambda: next(times))
    with Ledger.open(tmp_path, IDENTITY, {}) as ledger:
        for seed in (2, 0, 1):
            ledger.record({"heads": 1}, seed, {"accuracy": 0.5}, 0.0)
        assert [row.seed for row in ledger.rows()] == [0, 1, 2]
        assert ledger.overview().last_ended == "2026-01-01T00:00:00+00:00", "the one recorded last"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="whoever may do anything writes anywhere")
def test_a_run_in_a_folder_that_cannot_be_written_is_read(tmp_path):
    with Ledger.open(tmp_path, IDENTITY, {}) as ledger:
        ledger.record({"heads": 1}, 0, {"accuracy": 0.5}, 0.0)
    tmp_path.chmod(0o555)
    try:
        assert len(Ledger.read(tmp_path)[1]) == 1
        with pytest.raises(InputError, match="cannot be locked"), Ledger.open(tmp_path, IDENTITY, {}):
            pass
    finally:
        tmp_path.chmod(0o755)


def test_what_is_no_ledger_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a run"):
        Ledger.read(tmp_path)
    (tmp_path / "ledger.sqlite").write_bytes(b"years of work, but not a ledger" * 50)
    with pytest.raises(InputError, match="cannot be read"), Ledger.open(tmp_path, IDENTITY, {}):
        pass
    with pytest.raises(InputError, match="cannot be read"):
        Ledger.read(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"), Ledger.open(tmp_path / "file", IDENTITY, {}):
        pass
