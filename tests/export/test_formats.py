"""Formats of few bits: what GGUF's blocks hold exactly, what is predicted, and what llama.cpp answers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rote
from rote.errors import CheckFailed, InputError
from rote.export.common.gguf_blocks import BLOCKS, FORMATS, WHOLE, decoded, encoded

FACTS = "random:vocab=20,context=2,facts=60,seed=1"

pytest.importorskip("gguf")


@pytest.fixture(scope="module")
def built() -> Any:
    return rote.build(FACTS, dtype="int4")


@pytest.mark.parametrize("name", FORMATS)
def test_rows_come_back_near(name: str) -> None:
    rows = np.random.default_rng(0).normal(size=(4, 2 * BLOCKS[name])).astype(np.float32)
    bits = 8 * encoded(rows, name).size / rows.size
    error = np.square(decoded(encoded(rows, name), name) - rows).mean()
    assert error < (0.7 if name.startswith("TQ") else 4.0 ** (3.2 - bits))


@pytest.mark.parametrize("name", WHOLE)
def test_rows_on_a_grid_are_held_exactly(name: str) -> None:
    rng, (low, high) = np.random.default_rng(0), WHOLE[name]
    step = rng.uniform(0.01, 2, 5).astype(np.float16).astype(np.float32)
    rows = rng.integers(low + 1, high + 1, (5, 96)) * step[:, None]
    rows[3] = 0.3 * rows[3] + 0.123  # off its grid
    found = decoded(encoded(rows.astype(np.float32), name, step), name)
    same = (found == rows.astype(np.float32)).all(axis=1)
    assert same.tolist() == [True, True, True, False, True]


def test_llama_cpp_answers_as_predicted(built: Any, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    predicted = rote.export.recall_as(built, "Q4_0", rote.facts(FACTS))
    assert predicted.recalled == predicted.recalled_before == 60
    exported = rote.export_model(built, "gguf", tmp_path / "q4", FACTS, format="Q4_0")
    assert (exported.certificate.recalled, exported.certificate.dtype) == (60, "Q4_0")
    assert exported.certificate.min_margin == pytest.approx(predicted.min_margin, rel=1e-3)
    assert rote.export.verify_export(exported.path, rote.facts(FACTS)).holds


def test_a_format_that_loses_facts_writes_nothing(built: Any, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    assert rote.export.recall_as(built, "TQ2_0", rote.facts(FACTS)).recalled < 60
    with pytest.raises(CheckFailed, match="Choose a format of more bits"):
        rote.export_model(built, "gguf", tmp_path / "lost", FACTS, format="TQ2_0")
    assert not (tmp_path / "lost").exists()


def test_strange_formats_are_refused(built: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'Q4_0'"):
        rote.export_model(built, "gguf", tmp_path / "x", FACTS, format="q4_0")
    with pytest.raises(InputError, match="has no formats"):
        rote.export_model(built, "torch", tmp_path / "x", FACTS, format="Q4_0")
    with pytest.raises(InputError, match="is not one of"):
        rote.export.recall_as(built, "int5", rote.facts(FACTS))
    assert not (tmp_path / "x").exists()


def test_rounding_after_the_fact_costs_what_building_does_not() -> None:
    plain = rote.build(FACTS, "dana2025.theorem1")
    rounded = rote.export.recall_as(plain, "int3", rote.facts(FACTS))
    assert rounded.recalled < rounded.recalled_before == 60
    assert rote.build(FACTS, dtype="int3").certificate.recalled == 60
