from contextlib import contextmanager

import numpy as np
import pytest
import torch
from lookups import lookup, noisy

import rote
from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.models.mlp_transformer import MlpTransformer
from rote.models.query_attention import QueryAttention
from rote.progress import Progress
from rote.training import native_engine
from rote.training.memory import bytes_per_model
from rote.training.problem import TrainingProblem
from rote.training.protocol import paper
from rote.training.run import divergence_step
from rote.training.train import train
from rote.training.trials import TrainingTrial, run_trials

SPEC = AttentionOnly(vocab=12, context=2, dim=5, head_dim=5, heads=6, scale_scores=True)
ENGINES = ["torch", "native"] if native_engine.lanes() else ["torch"]


@pytest.mark.parametrize("engine", ENGINES)
def test_accuracy_is_recall_and_names_its_weighting(engine):
    task = lookup(12)
    (trained,) = train(task, SPEC, seeds=[3], engine=engine, steps=150, samples=500)
    found = rote.recall(trained.model, task)
    assert trained.accuracy == pytest.approx(found.recall)
    assert found.recall > 0.5
    missed = np.zeros(144, bool)
    missed[found.missed] = True
    from rote.training.run import Data

    weights = Data(TrainingProblem.of(task), trained.protocol, 3).weights
    assert trained.sampled_accuracy == pytest.approx(weights[~missed].sum())
    assert trained.sampled_accuracy != trained.accuracy
    assert trained.batch_accuracy is None
    assert trained.published_accuracy == trained.sampled_accuracy
    assert trained.engine.startswith(engine)
    assert trained.curve[0, 1] == pytest.approx(np.log(12), rel=0.2)
    assert trained.loss == trained.curve[-1, 1] < 1
    assert not trained.diverged


@pytest.mark.parametrize("engine", ENGINES)
def test_minibatches_report_their_last_batches(engine):
    protocol = paper(batches=8, batch=64, epochs=30)
    (trained,) = train(lookup(12), SPEC, seeds=1, protocol=protocol, engine=engine)
    assert trained.batch_accuracy is not None
    # Batches of the last epochs are the data set itself, up to what the last steps still change.
    assert abs(trained.batch_accuracy - trained.sampled_accuracy) < 0.1
    assert trained.published_accuracy == trained.batch_accuracy


def test_same_seed_same_result_whatever_the_workers():
    task = lookup(12)
    alone = train(task, SPEC, seeds=4, workers=1, steps=60)
    beside = train(task, SPEC, seeds=4, workers=3, steps=60)
    later = train(task, SPEC, seeds=[2], workers=1, steps=60)
    for one, other in zip(alone, beside, strict=True):
        for name, tensor in one.model.weights.items():
            assert torch.equal(tensor, other.model.weights[name])
        assert np.array_equal(one.curve, other.curve)
    if native_engine.lanes():
        assert all(torch.equal(part, alone[2].model.weights[name]) for name, part in later[0].model.weights.items())
    assert not torch.equal(alone[0].model.weights["tokens"], alone[1].model.weights["tokens"])


@pytest.mark.skipif(not native_engine.lanes(), reason="the native engine is not built here")
@pytest.mark.parametrize(
    "spec",
    [SPEC, MlpTransformer(vocab=12, context=2, dim=5, head_dim=5, width=30)],
    ids=["attention-only", "mlp-transformer"],
)
@pytest.mark.parametrize("protocol", ["fast", "paper"])
def test_engines_take_the_same_path(spec, protocol):
    changes = {"epochs": 1, "batches": 20} if protocol == "paper" else {"steps": 20}
    curves = [
        train(lookup(12), spec, seeds=2, protocol=protocol, engine=engine, **changes) for engine in ("torch", "native")
    ]
    for one, other in zip(*curves, strict=True):
        assert one.curve[:, 1] == pytest.approx(other.curve[:, 1], rel=1e-3)


@pytest.mark.parametrize("engine", ENGINES)
def test_distributions_are_learned(engine):
    task = noisy(6)
    spec = AttentionOnly(vocab=6, context=2, dim=5, head_dim=3, heads=4)
    (trained,) = train(task, spec, seeds=1, steps=200, engine=engine)
    assert rote.divergence(trained.model, task).expected < 0.05
    assert trained.loss - TrainingProblem.of(task).entropy == pytest.approx(
        rote.divergence(trained.model, task).expected, abs=5e-3
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_deep_models_train(engine):
    spec = AttentionOnly(vocab=8, context=2, dim=5, head_dim=5, heads=3, layers=2, scale_scores=True)
    (trained,) = train(lookup(8), spec, seeds=1, steps=120, engine=engine)
    assert trained.accuracy > 0.9


def test_other_optimisers_end_lower():
    task = lookup(12)
    (plain,) = train(task, SPEC, seeds=1, steps=100)
    (polished,) = train(task, SPEC, seeds=1, steps=100, polish=60)
    (muon,) = train(task, SPEC, seeds=1, steps=200, optimizer="muon")
    assert polished.loss < plain.loss
    assert polished.accuracy >= plain.accuracy
    assert muon.loss < np.log(12) / 2


def test_a_warm_start_is_where_training_begins():
    task = lookup(12)
    (first,) = train(task, SPEC, seeds=1, steps=200)
    (second,) = train(task, SPEC, seeds=[9], start=first.model.weights, steps=2, peak=1e-6)
    assert second.curve[0, 1] == pytest.approx(first.loss, rel=0.1)
    with pytest.raises(InputError, match="tensor 'tokens' is missing"):
        train(task, SPEC, start={}, steps=2)


@pytest.mark.parametrize("engine", ENGINES)
def test_divergence_is_not_a_low_accuracy(engine):
    (trained,) = train(lookup(12), SPEC, seeds=1, steps=60, peak=900.0, engine=engine)
    assert trained.diverged
    assert trained.accuracy is None
    assert trained.sampled_accuracy is None
    assert trained.summary()["diverged_at"] == trained.diverged_at


def test_divergence_step():
    finite = np.zeros(3)
    assert divergence_step(np.array([2.0, 1.0, np.nan, np.nan]), finite, 2.1) == 2
    assert divergence_step(np.array([2.0, 1.0, 0.5]), np.array([np.inf]), 2.1) == 3
    assert divergence_step(np.array([2.0, 9.0, 1.0, 1e3, 1e4]), finite, 2.1) == 3
    assert divergence_step(np.array([2.0, 9.0, 1.0]), finite, 2.1) is None
    # A bad start that is being mended is not divergence.
    assert divergence_step(np.array([50.0, 40.0, 30.0]), finite, 2.1) is None


def test_what_cannot_fit_is_refused_with_its_bytes():
    spec = AttentionOnly(vocab=12, context=2, dim=2**16, head_dim=2**16, heads=8)
    with pytest.raises(InputError, match=r"needs [\d.]+ TiB \([\d,]+ bytes\)"):
        train(lookup(12), spec, steps=1)
    with pytest.raises(InputError, match=r"needs .* and 1,000 bytes are free"):
        train(lookup(12), SPEC, steps=1, memory=1000)
    problem = TrainingProblem.of(lookup(12))
    assert bytes_per_model(SPEC, problem, paper(), True) > bytes_per_model(SPEC, problem, paper(batch=16), True)


def test_refusals():
    with pytest.raises(InputError, match="vocab"):
        train(lookup(11), SPEC)
    with pytest.raises(InputError, match="context"):
        train(lookup(12, 3), SPEC)
    with pytest.raises(InputError, match="built, not trained"):
        train(lookup(12), QueryAttention(context=2, dim=4, head_dim=2, heads=1, outputs=12))
    with pytest.raises(InputError, match="seeds=0`: must be at least 1"):
        train(lookup(12), SPEC, seeds=0)
    with pytest.raises(InputError, match="not one of paper, fast, best"):
        train(lookup(12), SPEC, protocol="slow")
    with pytest.raises(InputError, match="workers"):
        train(lookup(12), SPEC, workers=0)
    with pytest.raises(InputError, match="device"):
        train(lookup(12), SPEC, device="abacus")
    with pytest.raises(InputError, match="steps"):
        train(lookup(12), SPEC, protocol=paper(), steps=0)
    with pytest.raises(InputError, match="seed"):
        train(lookup(12), SPEC, seeds=[-1])


def test_without_the_library_torch_runs_and_says_so(monkeypatch):
    monkeypatch.setattr(native_engine, "library", lambda: None)
    with pytest.warns(RuntimeWarning, match="torch engine"):
        (trained,) = train(lookup(12), SPEC, seeds=1, steps=5)
    assert trained.engine == "torch"
    with pytest.raises(InputError, match="not built here"):
        train(lookup(12), SPEC, seeds=1, steps=5, engine="native")


class Counted(Progress):
    def __init__(self):
        self.total, self.steps, self.texts = 0, 0, []

    @contextmanager
    def stage(self, description, total=None):
        self.total, counted = total, self

        class Stage:
            def advance(self, steps=1):
                counted.steps += steps

            def describe(self, text):
                counted.texts.append(text)

        yield Stage()


def test_trials_stream_with_their_keys_and_progress():
    task, progress = lookup(12), Counted()
    wide = AttentionOnly(vocab=12, context=2, dim=6, head_dim=3, heads=4)
    protocol = paper(batches=5, batch=32, epochs=10)
    trials = [
        TrainingTrial(task, spec, protocol, seed, key=(spec.dim, seed)) for spec in (SPEC, wide) for seed in range(3)
    ]
    ended = list(run_trials(trials, workers=2, progress=progress))
    assert {trial.key for trial, _ in ended} == {(dim, seed) for dim in (5, 6) for seed in range(3)}
    assert all(trained.seed == trial.seed and trained.model.spec == trial.spec for trial, trained in ended)
    assert progress.steps == progress.total == 6 * 50
    assert progress.texts[-1] == "training: 6 of 6 models done"


def test_a_stream_that_is_left_early_stops_its_workers():
    trials = [TrainingTrial(lookup(12), SPEC, paper(batches=2000, epochs=100), seed) for seed in range(2)]
    short = TrainingTrial(lookup(12), SPEC, paper(batches=1, epochs=1), 5, key="short")
    stream = run_trials([*trials, short], workers=3 if native_engine.lanes() else 1)
    if native_engine.lanes():
        trial, _ = next(stream)
        assert trial.key == "short"
    stream.close()
