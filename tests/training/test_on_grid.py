"""Training on a grid: weights are on it, every fact is recalled from the packed file, bad settings are named."""

from pathlib import Path
from typing import Any

import pytest

import rote
from rote.errors import InputError

FACTS = "random:vocab=12,context=2,facts=144,seed=3"
SPEC = rote.AttentionOnly(vocab=12, context=2, dim=6, head_dim=2, heads=10)


@pytest.mark.parametrize("dtype", ["int8", "int4", "levels12"])
def test_trained_models_are_on_their_grid(dtype: Any, tmp_path: Path) -> None:
    best = rote.train_best(FACTS, SPEC, seeds=1, dtype=dtype, steps=2_000, workers=1)
    assert best.certificate.recalled == 144
    assert best.certificate.dtype == dtype
    assert best.summary()["bits_per_weight_bit"] == best.certificate.bits / (8 * best.best.model.bytes)  # type: ignore[operator]
    folder = rote.load(best.save(tmp_path / "model"))
    assert rote.recall(folder.model, FACTS).recalled == 144
    assert (
        folder.model.bytes < 1.02 * best.best.model.parameters * {"int8": 1, "int4": 0.6, "levels12": 0.55}[dtype] + 20
    )


def test_the_same_seed_gives_the_same_model() -> None:
    first, second = (rote.train(FACTS, SPEC, [4], dtype="int4", steps=200, workers=1)[0] for _ in range(2))
    for name, tensor in first.model.weights.items():
        assert (second.model.weights[name] == tensor).all()


def test_kept_seeds_stay_on_their_grid(tmp_path: Path) -> None:
    for _ in range(2):
        best = rote.train_best(FACTS, SPEC, seeds=1, dtype="int4", steps=100, workers=1, keep=tmp_path / "kept")
        assert best.best.model.precision is not None


@pytest.mark.parametrize(
    ("spec", "settings", "message"),
    [
        (SPEC, {"dtype": "int5"}, "is not one of int8"),
        (SPEC, {"dtype": "int8", "protocol": "best"}, "has a protocol of its own"),
        (SPEC, {"dtype": "int8", "polish": 5}, "does not take `polish`"),
        (SPEC, {"dtype": "int8", "batch": 5}, "does not take `batch`"),
        (SPEC.model_copy(update={"variant": "shared"}), {"dtype": "int8"}, "attention-only models of the per-head"),
        (rote.MlpTransformer(vocab=12, context=2, dim=6, head_dim=2, heads=3, width=4), {"dtype": "int8"}, "has mlp"),
    ],
)
def test_what_is_not_trained_on_a_grid_is_refused(spec: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rote.train(FACTS, spec, 1, **settings)
