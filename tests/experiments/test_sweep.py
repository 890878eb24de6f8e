"""A sweep of one's own: what values mean, what runs, what is left in the folder, and going on after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars
import pytest

import rote
from rote.errors import InputError
from rote.experiments.grid import values_of
from rote.experiments.ledgers.ledger import Ledger

TINY = {"vocab": 8, "dim": 4, "head_dim": 2, "heads": "1:5"}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("5", (5,)),
        (5, (5,)),
        ("1,5,9", (1, 5, 9)),
        ("2:8", (2, 3, 4, 5, 6, 7, 8)),
        ("2:8:2", (2, 4, 6, 8)),
        ("1, 4:6", (1, 4, 5, 6)),
        (range(2, 5), (2, 3, 4)),
        ([3, 1], (3, 1)),
        ("per-head,shared", ("per-head", "shared")),
    ],
)
def test_values_are_numbers_lists_or_ranges_whose_end_is_included(given, meant):
    assert values_of(given) == meant


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({**TINY, "heads": "8:2"}, "empty range"),
        ({**TINY, "heads": 0}, "`heads=0`"),
        ({**TINY, "heads": "many"}, "`heads=many`|`heads='many'`"),
        ({**TINY, "headz": 2}, "did you mean 'heads'"),
        ({"vocab": 8, "heads": 2}, "`dim` is missing"),
        ({**TINY, "head_dim": 5}, "a head cannot carry more dimensions"),
        ({**TINY, "width": 3, "variant": "shared"}, "leave out `variant` or `width`"),
        ({**TINY, "protocol": "slow"}, "protocol"),
        ({**TINY, "heads": "1:20000"}, "give fewer values"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(grid, message):
    with pytest.raises(InputError, match=message):
        rote.Grid(**grid).specs()


def test_a_dimension_that_is_absent_is_the_other_one():
    square = rote.Grid(vocab=8, heads=2, head_dim="2:4").specs()
    assert [(spec.dim, spec.head_dim) for spec in square] == [(2, 2), (3, 3), (4, 4)]
    wide = rote.Grid(vocab=8, heads=2, dim=3, head_dim="2:4")
    assert [spec.head_dim for spec in wide.specs()] == [2, 3]
    assert wide.left_out == 1


def test_models_are_trained_as_rote_train_trains_them():
    result = rote.sweep({**TINY, "heads": 2}, seeds=1, steps=30)
    spec = rote.AttentionOnly(vocab=8, context=2, dim=4, head_dim=2, heads=2)
    (trained,) = rote.train("random:vocab=8,context=2,seed=0", spec, seeds=1, steps=30)
    assert result.rows[0].result["accuracy"] == trained.accuracy


def test_kinds_of_models_are_never_fitted_together():
    grid = {"vocab": 8, "dim": 4, "head_dim": 2, "heads": "1:4", "variant": "per-head,shared", "protocol": "fast,best"}
    result = rote.sweep(grid, seeds=1, steps=20, polish=0)
    assert {(law.sweep.fixed["variant"], law.sweep.fixed["protocol"]) for law in result.laws} == {
        (variant, protocol) for variant in ("per-head", "shared") for protocol in ("fast", "best")
    }
    assert all(len(law.sweep.points.x) == 4 for law in result.laws)
    assert [line.get_marker() for line in result.figure().axes[0].lines].count("o") == 4


def test_the_folder_holds_tables_laws_and_drawings_and_grows(tmp_path):
    first = rote.sweep({**TINY, "heads": "1:4"}, seeds=2, steps=20, folder=tmp_path)
    assert first.trained == 8
    names = {path.name for path in first.files}
    assert names == {"sweep.csv", "sweep.parquet", "sweep.json", "sweep.png", "sweep.svg", "sweep.pdf"}
    assert polars.read_csv(tmp_path / "sweep.csv").shape == first.frame().shape
    assert polars.read_parquet(tmp_path / "sweep.parquet").equals(first.frame())
    assert json.loads((tmp_path / "sweep.json").read_text())["laws"][0]["size"] == "heads"
    more = rote.sweep({**TINY, "heads": "1:5"}, seeds=2, steps=20, folder=tmp_path)
    assert (more.trained, len(more.rows)) == (2, 10)
    assert rote.fit_run(tmp_path).frame()["size"].unique().to_list() == ["heads"]


def test_frames_have_a_row_a_model_in_polars_and_pandas():
    pytest.importorskip("pandas")
    result = rote.sweep({**TINY, "heads": "1:3"}, seeds=2, steps=20)
    assert result.frame()["heads"].to_list() == [1, 1, 2, 2, 3, 3]
    assert result.to_pandas()["seed"].tolist() == [0, 1, 0, 1, 0, 1]
    assert result.laws == [], "three values make no law"
    assert result.means()["heads"].to_list() == [1, 2, 3]


COMMAND = ("--vocab", "30", "--context", "3", "--heads", "2", "--head-dim", "2:8", "--seeds", "2", "--batch", "256",
           "--steps", "40", "--workers", "1", "--json")  # fmt: skip


def ended(folder: Path) -> int:
    try:
        return len(Ledger.read(folder)[1])
    except InputError:  # not written yet
        return 0


def test_a_sweep_that_was_killed_goes_on_to_a_figure_a_fit_and_a_table(tmp_path):
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "rote", "sweep", *COMMAND, "-o", str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    while process.poll() is None and ended(folder) < 3:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = ended(folder)
    assert 3 <= before < 14, "the process must die in the middle of its work"
    assert not (folder / "sweep.csv").exists()

    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    document = json.loads(done.stdout)
    assert (document["trained_now"], document["trials"]) == (14 - before, 14)
    (law,) = document["laws"]
    # Models of dimension two are trained by another schedule and are not fitted with the others.
    assert (law["size"], law["values"]) == ("dim = head_dim", [3, 4, 5, 6, 7, 8])
    assert law["exponent"] is not None
    assert polars.read_csv(folder / "sweep.csv")["head_dim"].to_list() == [k for k in range(2, 9) for _ in range(2)]
    assert (folder / "sweep.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "sweep.pdf").read_bytes().startswith(b"%PDF")
