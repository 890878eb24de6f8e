"""Runs listed, shown, exported, compared and put together."""

from __future__ import annotations

import polars
import pytest

from rote.errors import CheckFailed, InputError
from rote.experiments.ledgers.ledger import Ledger, TrialKey
from rote.experiments.runner import RunPart
from rote.experiments.runs.export import export_run
from rote.experiments.runs.listing import list_runs, show_run
from rote.experiments.runs.merge import diff_runs, merge_runs
from rote.experiments.sweep import sweep

GRID = {"vocab": 8, "dim": 4, "head_dim": 2, "heads": "1:3"}


def write(folder, seeds, accuracy=0.5, identity=None, failing=()):
    with Ledger.open(folder, identity or {"experiment": "test"}, {"trials": 4}) as ledger:
        for seed in seeds:
            cell = {"spec": {"heads": 1 + seed % 2, "dim": 4}}
            ledger.record(cell, seed, {"accuracy": accuracy, "seconds": seed * 0.1, "curve": [[0, 1.5]]}, seed * 0.1)
        for seed in failing:
            ledger.record_failure(TrialKey.of({"spec": {"heads": 9, "dim": 4}}, seed), "out of memory")
    return folder


def test_the_parts_of_a_sweep_merge_into_the_whole(tmp_path):
    sweep(GRID, seeds=3, steps=20, folder=tmp_path / "whole", workers=1)
    parts = [sweep(GRID, seeds=3, steps=20, folder=tmp_path / p[0], part=p) for p in ("1/2", "2/2")]
    assert sorted(part.trained for part in parts) == [4, 5]
    merged = merge_runs([tmp_path / "1", tmp_path / "2"], tmp_path / "merged")
    assert (merged.trials, merged.shared, merged.planned) == (9, 0, 9)
    assert diff_runs(tmp_path / "whole", tmp_path / "merged").equal
    tables = [
        export_run(tmp_path / name, tmp_path / f"{name}{kind}", times=False)[0].read_bytes()
        for kind in (".csv", ".parquet")
        for name in ("whole", "merged")
    ]
    assert tables[0] == tables[1]
    assert tables[2] == tables[3]
    assert sweep(GRID, seeds=3, steps=20, folder=tmp_path / "merged").trained == 0


def test_every_trial_is_in_one_part_and_seeds_of_a_cell_are_divided():
    class Listed:
        adaptive = False

        def pending(self, rows):
            class Named:
                def __init__(self, key):
                    self.key = key

            return [Named(TrialKey.of({"heads": heads}, seed)) for heads in range(3) for seed in range(4)]

    parts = [RunPart(number, 3).of(Listed()) for number in (1, 2, 3)]
    assert sum(map(len, parts)) == len(frozenset.union(*parts)) == 12
    assert all(len({key.cell for key in part}) == 3 for part in parts)


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "a/b", "-1/2", "1/2/3", "٣/٤"])
def test_a_part_that_is_none_is_refused(text):
    with pytest.raises(InputError, match="such as 1/2"):
        RunPart.read(text)


def test_runs_are_listed_with_what_is_wrong_with_them(tmp_path):
    write(tmp_path / "one", [0, 1], failing=[7])
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "ledger.sqlite").write_bytes(b"not a ledger, and long enough to be told from one" * 9)
    one, two = list_runs(tmp_path)
    assert (one.overview.trials, one.overview.failed, one.planned, one.name) == (2, 1, 4, "test")
    assert two.overview is None
    assert "two/ledger.sqlite: cannot be read" in two.problem
    with pytest.raises(InputError, match="no such folder"):
        list_runs(tmp_path / "three")


def test_cells_are_found_by_their_fields(tmp_path):
    run = write(tmp_path, range(4), failing=[7])
    content = show_run(run, {"heads": "2"})
    assert [(cell.sizes, cell.trials, cell.score) for cell in content.cells] == [({"heads": 2}, 2, 0.5)]
    assert (content.matching, content.score, [f.reason for f in content.failed]) == (1, "accuracy", ["out of memory"])
    assert len(show_run(run, most=1).cells) == 1
    with pytest.raises(InputError, match=r"no cell has a field 'head' \(did you mean 'heads'\?\)"):
        show_run(run, {"head": "2"})


def test_a_table_has_a_column_for_everything(tmp_path):
    write(tmp_path / "run", [0, 1])
    path, trials = export_run(tmp_path / "run", tmp_path / "deep" / "trials.parquet")
    frame = polars.read_parquet(path)
    assert trials == 2
    assert frame.columns[:5] == ["spec.dim", "spec.heads", "seed", "result.accuracy", "result.seconds"]
    assert frame["result.curve"].to_list() == ["[[0, 1.5]]"] * 2
    assert "ended" in frame.columns
    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet"):
        export_run(tmp_path / "run", tmp_path / "trials.xlsx")


def test_differences_are_named_and_times_are_not(tmp_path):
    first, second = write(tmp_path / "a", [0, 1]), write(tmp_path / "b", [1, 2], accuracy=0.75)
    compared = diff_runs(first, second)
    assert not compared.equal
    assert [key.seed for key in compared.only_first + compared.only_second] == [0, 2]
    assert [trial.fields for trial in compared.different] == [{"accuracy": (0.5, 0.75)}]


def test_runs_that_disagree_or_are_of_other_plans_are_not_merged(tmp_path):
    first, second = write(tmp_path / "a", [0, 1]), write(tmp_path / "b", [1], accuracy=0.75)
    other = write(tmp_path / "c", [5], identity={"experiment": "another"})
    with pytest.raises(InputError, match=r"disagrees .* seed 1 .*accuracy 0\.5, 0\.75"):
        merge_runs([first, second], tmp_path / "out")
    with pytest.raises(InputError, match=r"another plan.*experiment 'test', now 'another'"):
        merge_runs([first, other], tmp_path / "out")
    with pytest.raises(InputError, match="exists"):
        merge_runs([first, first], tmp_path / "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]
    assert merge_runs([first, write(tmp_path / "d", [1, 3])], tmp_path / "out").shared == 1


def test_a_failure_that_ended_elsewhere_is_no_failure(tmp_path):
    cell = {"spec": {"heads": 9, "dim": 4}}
    first, second = write(tmp_path / "a", [0], failing=[7, 8]), write(tmp_path / "b", [1])
    with Ledger.open(second, {"experiment": "test"}, {}) as ledger:
        ledger.record(cell, 7, {"accuracy": 1.0}, 0.0)
    with Ledger.reading(merge_runs([first, second], tmp_path / "out").folder) as ledger:
        assert [failed.key.seed for failed in ledger.failures()] == [8]


def test_models_that_fit_into_no_memory_fail_and_the_others_are_trained(tmp_path, monkeypatch):
    monkeypatch.setattr("rote.training.memory.free_memory", lambda: 3 * 10**6)
    result = sweep({"vocab": 8, "dim": "4,4000", "head_dim": 2, "heads": 1}, seeds=1, steps=20, folder=tmp_path)
    assert [row.cell["spec"]["dim"] for row in result.rows] == [4]
    assert "are free" in result.failed[0].reason
    assert result.summary()["failed"][0]["reason"] == result.failed[0].reason
    monkeypatch.undo()
    again = sweep({"vocab": 8, "dim": "4,4000", "head_dim": 2, "heads": 1}, seeds=1, steps=20, folder=tmp_path)
    assert (again.trained, len(again.rows), again.failed) == (1, 2, ())


def test_a_run_of_which_nothing_ended_says_why(monkeypatch):
    monkeypatch.setattr("rote.training.memory.free_memory", lambda: 1000)
    with pytest.raises(CheckFailed, match=r"none of 2 trials ended; training this .* are free"):
        sweep({"vocab": 8, "dim": 4, "head_dim": 2, "heads": 1}, seeds=2, steps=20)
