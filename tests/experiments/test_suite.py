"""Suites of models: what the manifest says is what the models do, and its schema is the one that is shipped."""

from __future__ import annotations

import json

import pytest
import torch
from pydantic import ValidationError

import rote
from rote.errors import CheckFailed, InputError
from rote.experiments.suite import shipped_schema
from rote.experiments.suite import suite as write_suite
from rote.experiments.suite_schema import ModelTruth, SuiteManifest, schema

FACTS = "random:vocab=12,context=2,facts=60,seed=1"


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    path = tmp_path_factory.mktemp("suite") / "suite"
    return write_suite(FACTS, path, loads=(0.5, 1.0, 1.5), shapes=((8, 4), (12, 3)), formats=("torch",))


def truth_of(suite, model):
    return ModelTruth.model_validate_json((suite.path / model.id / "truth.json").read_text())


def test_the_folder_says_what_is_in_it(suite):
    manifest = SuiteManifest.model_validate_json((suite.path / "manifest.json").read_text())
    assert manifest == suite.manifest
    assert len(manifest.models) == 2 * 2 + 2 * 3  # Theorem 1 promises nothing beyond load 1
    assert not manifest.rejected
    task = rote.facts(FACTS)
    for model in manifest.models:
        folder = rote.load(suite.path / model.id / "source")
        assert rote.recall(folder.model, task).recalled == model.recalled == 60
        assert model.load * model.capacity <= 60 + model.load * model.spec["head_dim"]
        assert set(model.drawn) | set(model.solved) == set(folder.model.weights)
        assert rote.from_torch(suite.path / model.id / "torch").spec == folder.model.spec


def test_parts_add_up_to_the_margin(suite):
    for model in suite.manifest.models:
        for fact in truth_of(suite, model).facts:
            parts = fact.skip.to_answer - fact.skip.to_nearest
            parts += sum(map(sum, fact.heads_to_answer)) - sum(map(sum, fact.heads_to_nearest))
            assert parts == pytest.approx(fact.margin, abs=1e-6)
            assert fact.margin >= model.min_margin * (1 - 1e-3)


def test_a_head_that_does_not_hold_a_fact_adds_the_same_whatever_stands_before_its_last_token(suite):
    """What holding means, seen from outside: attention of the others stays on the last token."""
    task = rote.facts(FACTS)
    for model in suite.manifest.models:
        loaded = rote.load(suite.path / model.id / "source").model.to("float64")
        for row, fact in enumerate(truth_of(suite, model).facts[:10]):
            held = set(fact.held_by[0])
            assert held
            context = torch.from_numpy(task.contexts[row : row + 1]).long()
            for part in rote.inspect(loaded, task[row]).contributions:
                if part.part == "head" and part.head not in held:
                    idle = sum(part.attention[:-1]) < 1e-6
                    assert idle or not loaded.weights["layers.0.output"][part.head].any()
            assert loaded.logits(context).argmax() == task.answers[row]


def test_models_that_hold_facts_in_an_mlp(tmp_path):
    made = write_suite(FACTS, tmp_path / "mlp", loads=(0.5, 1.0), shapes=((8, 4),), methods=("madden2025",))
    assert [model.capacity for model in made.manifest.models] == [120, 60]
    for model in made.manifest.models:
        assert model.solved == ("layers.0.mlp_out",)
        assert model.recalled == 60
        facts = truth_of(made, model).facts
        assert all(fact.held_by == ((),) and len(fact.mlps) == len(fact.mlps_ablated) == 1 for fact in facts)
        assert sum(fact.mlps_ablated[0] > 0 for fact in facts) < 20  # without its MLP the model guesses


def test_ablations_are_those_of_the_model_without_the_head(suite):
    task, model = rote.facts(FACTS), suite.manifest.models[0]
    loaded = rote.load(suite.path / model.id / "source").model
    fact = truth_of(suite, model).facts[7]
    parts = [part for part in rote.inspect(loaded, task[7]).contributions if part.part == "head"]
    assert [part.margin_without for part in parts] == pytest.approx(list(fact.heads_ablated[0]), abs=1e-6)


def test_the_shipped_schema_is_that_of_the_files(suite):
    assert json.loads(shipped_schema()) == json.loads(json.dumps(schema()))
    assert (suite.path / "schema.json").read_text() == shipped_schema()
    content = json.loads((suite.path / "manifest.json").read_text())
    with pytest.raises(ValidationError):
        SuiteManifest.model_validate({**content, "more": 1})


def test_what_cannot_be_made_is_said(tmp_path):
    made = write_suite(FACTS, tmp_path / "one", loads=(1.0, 40.0), shapes=((8, 4),), methods=("rote.readout",))
    assert [each.id for each in made.manifest.rejected] == ["readout-d8-k4-load40-seed0"]
    assert not (tmp_path / "one" / "readout-d8-k4-load40-seed0").exists()
    with pytest.raises(CheckFailed, match="no model of this suite"):
        write_suite(FACTS, tmp_path / "none", loads=(40.0,), shapes=((8, 4),), methods=("rote.readout",))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]


def test_everything_wrong_is_told_at_once_and_nothing_is_overwritten(tmp_path):
    with pytest.raises(InputError) as rejected:
        write_suite(FACTS, tmp_path / "there", loads=(0.0,), shapes=((0, 4),), methods=("bietti2023",), seeds=0)
    assert all(word in str(rejected.value) for word in ("`loads`", "`shapes`", "`methods`", "`seeds=0`"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="not a suite of models"):
        write_suite(FACTS, tmp_path / "other", overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other"]
