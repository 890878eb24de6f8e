"""Training several seeds as a library call: the same models as `rote.train`, the best one certified and saved."""

import json

import pytest
import torch

import rote
from rote.errors import CheckFailed, InputError
from rote.experiments import seeds
from rote.experiments.best_of_seeds import KeptSeeds, train_best, trainable_spec
from rote.folders import read_folder, verify
from rote.models.mlp_transformer import MlpTransformer
from rote.progress import SILENT
from rote.tasks.generators import random_associations, random_vectors
from rote.training.failure import Failed

TASK = random_associations(9, 2, seed=3)


def test_the_best_model_is_certified_and_saved(tmp_path):
    spec = trainable_spec(TASK, dim=4, heads=2)
    trained = train_best(TASK, spec, 3, steps=60)
    recalls = [model.accuracy for model in trained.models]
    assert trained.best.accuracy == max(recalls)
    assert trained.certificate.recalled == rote.recall(trained.best.model, TASK).recalled
    document = trained.summary()
    assert document["recall"] == pytest.approx(max(recalls))
    assert [model["recall"] for model in document["models"]] == recalls
    folder = read_folder(trained.save(tmp_path / "model"))
    assert folder.provenance["seed"] == document["best_seed"]
    assert verify(folder, TASK).holds


def test_python_trains_the_models_that_the_command_line_trains():
    spec = rote.AttentionOnly(vocab=9, context=2, dim=4, head_dim=4, heads=2)
    (plain,) = rote.train(TASK, spec, 1, steps=20)
    (best,) = train_best(TASK, trainable_spec(TASK, dim=4, heads=2), 1, steps=20).models
    assert plain.model.spec == best.model.spec
    assert plain.model.spec.scale_scores
    assert all(torch.equal(tensor, best.model.weights[name]) for name, tensor in plain.model.weights.items())


def test_a_specification_may_ask_for_unscaled_scores():
    spec = rote.AttentionOnly(vocab=9, context=2, dim=4, head_dim=4, heads=2, scale_scores=False)
    (trained,) = rote.train(TASK, spec, 1, steps=5)
    assert not trained.model.spec.scale_scores


def test_given_weights_keep_the_scale_they_were_made_for():
    spec = rote.AttentionOnly(vocab=9, context=2, dim=4, head_dim=4, heads=2)
    start = {name: torch.zeros(shape) for name, shape in spec.shapes().items()}
    (trained,) = rote.train(TASK, spec, 1, steps=5, start=start)
    assert not trained.model.spec.scale_scores


def test_divergence_in_every_seed_is_an_error():
    with pytest.raises(CheckFailed, match="diverged in every seed") as raised:
        train_best(TASK, trainable_spec(TASK, dim=4, heads=2), 2, steps=50, peak=500.0)
    assert "--" not in str(raised.value)


def test_specifications_follow_the_task():
    assert isinstance(trainable_spec(TASK, dim=4, heads=1, width=6), MlpTransformer)
    assert trainable_spec(TASK, dim=4, heads=1).head_dim == 4
    with pytest.raises(InputError, match="per-head matrices"):
        trainable_spec(TASK, dim=4, heads=1, head_dim=2, width=6, variant="shared")
    with pytest.raises(InputError, match="vectors"):
        trainable_spec(random_vectors(3, 2, 4, seed=0), dim=4, heads=1)


@pytest.mark.parametrize("measured", [None, [], {}, {"curve": [1, 2, 3]}, {"curve": "x"}, {"seconds": "x"}])
def test_kept_seeds_that_rote_did_not_write_are_one_message(measured, tmp_path):
    spec, keep = trainable_spec(TASK, dim=4, heads=2), tmp_path / "model.seeds"
    train_best(TASK, spec, 1, steps=10, workers=1, keep=keep)
    path = keep / "seed-0" / "config.json"
    content = json.loads(path.read_text())
    before = content["provenance"]["measured"]
    content["provenance"]["measured"] = {**before, **measured} if isinstance(measured, dict) and measured else measured
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="not as rote writes it"):
        train_best(TASK, spec, 1, steps=10, workers=1, keep=keep)


def test_seeds_are_not_kept_through_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "model.seeds").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"):
        train_best(TASK, trainable_spec(TASK, dim=4, heads=2), 1, steps=10, workers=1, keep=tmp_path / "model.seeds")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_seeds_that_ended_are_taken_up_again_and_go_when_the_best_is_saved(tmp_path, monkeypatch):
    spec, keep = trainable_spec(TASK, dim=4, heads=2), tmp_path / "model.seeds"
    whole = train_best(TASK, spec, 3, steps=40, workers=1)

    def interrupted(self, trained):
        write(self, trained)
        if len(list(keep.iterdir())) == 2:
            raise KeyboardInterrupt

    write = KeptSeeds.write
    monkeypatch.setattr(KeptSeeds, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_best(TASK, spec, 3, steps=40, workers=1, keep=keep)
    ended = {path.name for path in keep.iterdir()}
    assert len(ended) == 2
    trained_again = []
    monkeypatch.setattr(KeptSeeds, "write", lambda self, trained: trained_again.append(trained.seed))
    resumed = train_best(TASK, spec, 3, steps=40, workers=1, keep=keep)
    assert {f"seed-{seed}" for seed in trained_again} == {"seed-0", "seed-1", "seed-2"} - ended
    assert resumed.certificate.weights_fingerprint == whole.certificate.weights_fingerprint
    for model, other in zip(resumed.models, whole.models, strict=True):
        assert (model.seed, model.accuracy, model.loss) == (other.seed, other.accuracy, other.loss)
        assert (model.curve == other.curve).all()
    resumed.save(tmp_path / "model")
    assert not keep.exists()


def test_seeds_of_another_training_are_refused(tmp_path):
    spec, keep = trainable_spec(TASK, dim=4, heads=2), tmp_path / "model.seeds"
    train_best(TASK, spec, 1, steps=20, keep=keep)
    with pytest.raises(InputError, match="seeds of another training"):
        train_best(TASK, spec, 2, steps=30, keep=keep)
    with pytest.raises(InputError, match="seeds of another training"):
        train_best(random_associations(9, 2, seed=4), spec, 2, steps=20, keep=keep)


def test_a_seed_that_fails_leaves_the_others_and_is_tried_again(tmp_path, monkeypatch):
    spec, keep = trainable_spec(TASK, dim=4, heads=2), tmp_path / "model.seeds"
    attempt = seeds.attempt_trials

    def failing(trials, **options):
        for trial, trained in attempt(trials, **options):
            yield trial, Failed(MemoryError("no room")) if trial.seed == 1 else trained

    monkeypatch.setattr(seeds, "attempt_trials", failing)
    best = train_best(TASK, spec, 3, steps=20, keep=keep)
    assert [model.seed for model in best.models] == [0, 2]
    assert best.summary()["failed"] == [{"seed": 1, "reason": "MemoryError: no room"}]
    with pytest.raises(CheckFailed, match="none of 1 trials ended; MemoryError: no room"):
        seeds.train_seeds(seeds.SeedTrainer(TASK, best.best.model.spec, best.best.protocol), [1], progress=SILENT)
    monkeypatch.undo()
    assert [model.seed for model in train_best(TASK, spec, 3, steps=20, keep=keep).models] == [0, 1, 2]
