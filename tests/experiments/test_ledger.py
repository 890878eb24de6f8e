"""The ledger: a trial is committed when it ends, whatever happens next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from rote.errors import InputError
from rote.experiments.ledger import Ledger, TrialKey

IDENTITY = {"figure": "fig1a", "protocol": "fast"}


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
        from rote.experiments.ledger import Ledger
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


def test_two_writers_are_refused(tmp_path):
    with (
        Ledger.open(tmp_path, IDENTITY, {}),
        pytest.raises(InputError, match="another process"),
        Ledger.open(tmp_path, IDENTITY, {}),
    ):
        pass


def test_what_is_no_ledger_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a run"):
        Ledger.read(tmp_path)
    (tmp_path / "ledger.sqlite").write_bytes(b"years of work, but not a ledger" * 50)
    with pytest.raises(InputError, match="cannot be"), Ledger.open(tmp_path, IDENTITY, {}):
        pass
    with pytest.raises(InputError, match="cannot be read"):
        Ledger.read(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"), Ledger.open(tmp_path / "file", IDENTITY, {}):
        pass
