"""The one loop over a ledger: what is missing runs, what ended stays, and rows are found by content."""

from dataclasses import replace

import pytest

from rote.errors import InputError
from rote.experiments.ledgers.ledger import Ledger, TrialKey
from rote.experiments.runner import run
from rote.experiments.token_schedule import RandomTables, TokenSchedule, training_record
from rote.experiments.trial import TokenTrial, Trial
from rote.models.attention_only import AttentionOnly
from rote.training.protocol import paper

SPEC = AttentionOnly(vocab=8, context=2, dim=3, head_dim=3, heads=2, scale_scores=True)
PROTOCOL = paper(batches=4, batch=16, epochs=2)


def recorded(trained, task):
    return {**training_record(trained), "facts": task.facts}


def plan_of(*seeds, **changes):
    trials = [TokenTrial(SPEC, PROTOCOL, seed) for seed in seeds]
    return replace(TokenSchedule({"test": "runner"}, trials, RandomTables(), recorded), **changes)


def lasting(rows):
    return {key: {**row.result, "seconds": 0} for key, row in rows.items()}


def test_a_run_in_memory_gives_what_a_run_in_a_folder_gives(tmp_path):
    memory, folder = run(plan_of(2, 0)), run(plan_of(2, 0), tmp_path)
    assert lasting(memory.rows) == lasting(folder.rows)
    assert [key.seed for key in memory.rows] == [2, 0], "rows come in the plan's order"
    assert all(row.result["facts"] == 64 for row in memory.rows.values())
    assert memory.trained == folder.trained == 2


def test_only_what_is_missing_runs(tmp_path):
    first = run(plan_of(0, 1), tmp_path)

    made = []

    def counted(trial):
        made.append(trial.seed)
        return RandomTables()(trial)

    second = run(plan_of(1, 2, task_of=counted), tmp_path)
    assert (first.trained, second.trained, made) == (2, 1, [2])
    assert [key.seed for key in second.rows] == [1, 2], "trials of another plan are left aside"
    shared = TrialKey.of(TokenTrial(SPEC, PROTOCOL, 1).cell, 1)
    assert second.rows[shared] == first.rows[shared]
    assert len(Ledger.read(tmp_path)[1]) == 3


def test_trials_of_equal_content_are_one_trial():
    plan = plan_of(0)
    twin = TokenTrial(SPEC.model_copy(), PROTOCOL.model_copy(), 0)
    ended = run(replace(plan, trials=[*plan.trials, twin]))
    assert ended.trained == len(ended.rows) == 1


def test_trials_that_ended_stay_when_the_run_is_cut_short(tmp_path):
    ended = []

    def failing(trained, task):
        if ended:
            raise KeyboardInterrupt
        ended.append(trained.seed)
        return recorded(trained, task)

    with pytest.raises(KeyboardInterrupt):
        run(plan_of(0, 1, 2, recorded=failing), tmp_path, workers=1)
    assert [row.seed for row in Ledger.read(tmp_path)[1]] == ended
    assert run(plan_of(0, 1, 2), tmp_path).trained == 2


def test_another_identity_is_refused(tmp_path):
    run(plan_of(0), tmp_path)
    with pytest.raises(InputError, match="holds another run"):
        run(plan_of(0, identity={"test": "another"}), tmp_path)


def test_a_start_is_part_of_a_trials_name():
    drawn, given = TokenTrial(SPEC, PROTOCOL, 0), TokenTrial(SPEC, PROTOCOL, 0, "zeros")
    assert drawn.key != given.key
    assert set(drawn.cell) == {"spec", "protocol"}
    starts = []

    def start_of(trial, task):
        starts.append(trial.start)

    assert run(plan_of(trials=[drawn, given], start_of=start_of)).trained == 2
    assert starts == [None, "zeros"]


def test_names_of_trials_are_those_of_older_ledgers():
    """Written down from a ledger of format 1: were this to change, no run could be resumed."""
    cell = TokenTrial(SPEC, PROTOCOL, 3).key.cell
    assert cell == (
        '{"protocol":{"batch":16,"beta1":0.9,"beta2":0.999,"epsilon":1e-08,"final":0.0005,"focus":0.0,'
        '"muon_peak":0.02,"name":"paper","optimizer":"adam","peak":0.01,"polish":0,"samples":64,'
        '"schedule":"linear-epochs","steps":8,"warmup":0.05},"spec":{"architecture":"attention-only","context":2,'
        '"dim":3,"head_dim":3,"heads":2,"layers":1,"positions":"stream","query_key_rank":null,'
        '"scale_scores":true,"variant":"per-head","vocab":8,"wide_heads":false}}'
    )


def test_every_kind_of_trial_takes_its_key_from_the_one_base_class():
    def kinds(base):
        return {kind for child in base.__subclasses__() for kind in (child, *kinds(child))}

    import rote.experiments.blocks.trial
    import rote.experiments.lm_capacity.points
    import rote.experiments.seeds
    import rote.experiments.statements.schedule
    import rote.experiments.vectors.trial  # noqa: F401

    assert {"TokenTrial", "VectorTrial", "BlockTrial", "BuiltTrial", "StatementTrial", "PointTrial", "SeedTrial"} <= {
        kind.__name__ for kind in kinds(Trial)
    }
    assert not [kind for kind in kinds(Trial) if "key" in vars(kind)]
    with pytest.raises(TypeError, match="abstract"):
        type("Nameless", (Trial,), {})()
