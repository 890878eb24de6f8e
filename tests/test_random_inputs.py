"""Random tables and random specifications: either a correct model, or a RoteError. Nothing else, ever."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import rote
from rote.folders import read_folder, verify, write_folder

CELLS = st.text(st.sampled_from("abcXYZ 019,\"'\n\té文\x00"), max_size=4)
WORDS = st.sampled_from(["a", "b", "c", "dd", "é", "x y", "文"])


@st.composite
def tables(draw) -> str:
    """CSV text: mostly well-formed small tables, sometimes with ragged rows, odd cells or contradictions."""
    columns = draw(st.integers(1, 4))
    cell = draw(st.sampled_from([WORDS, WORDS, CELLS]))
    rows = draw(st.lists(st.lists(cell, min_size=columns, max_size=columns), max_size=12))
    if draw(st.integers(0, 9)) == 0:
        rows.append(draw(st.lists(cell, max_size=6)))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([f"column{place}" for place in range(columns)])
    writer.writerows(rows)
    return text.getvalue()


SIZES = st.fixed_dictionaries(
    {},
    optional={
        "dim": st.integers(-1, 12),
        "head_dim": st.integers(-1, 12),
        "heads": st.integers(-1, 12),
        "dtype": st.sampled_from(["float32", "float64", "bfloat16", "int8"]),
        "seed": st.integers(0, 3),
        "rank_one": st.booleans(),
    },
)


@settings(max_examples=150, deadline=None)
@given(table=tables(), sizes=SIZES, keys=st.sampled_from(["words", "letters"]))
def test_a_correct_model_or_a_clear_error(table, sizes, keys):
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "facts.csv"
        path.write_text(table, encoding="utf-8", newline="")
        try:
            facts = rote.facts(path, keys=keys)
            built = rote.build(facts, "dana2025.theorem1", **sizes)
        except rote.RoteError:
            return
        assert built.model.parameters == built.model.spec.parameters()
        folder = write_folder(Path(place) / "model", built.model, facts.origin, built.provenance, built.certificate)
        again = rote.facts(path, keys=keys)
        held = rote.recall(read_folder(folder).model, again)
        assert held.recalled == held.facts == again.facts
        assert verify(read_folder(folder), again).holds
        logits = built.model.logits(facts.contexts)
        assert logits.argmax(1).tolist() == facts.answers.tolist()


SPEC_SIZES = st.one_of(st.integers(-2, 40), st.sampled_from([0, 2**31, 2**40, 2**64, 10**30]))


@settings(max_examples=200, deadline=None)
@given(
    vocab=SPEC_SIZES, context=SPEC_SIZES, dim=SPEC_SIZES, head_dim=SPEC_SIZES, heads=SPEC_SIZES,
    layers=st.sampled_from([-1, 1, 2, 2**40]), variant=st.sampled_from(["per-head", "shared", "other"]),
    query_key_rank=st.one_of(st.none(), SPEC_SIZES),
)  # fmt: skip
def test_a_specification_with_bounds_or_a_clear_error(**sizes):
    try:
        spec = rote.AttentionOnly(**sizes)
    except rote.RoteError:
        return
    found = rote.bounds(spec)
    assert len({item.id for item in found}) == len(found)
    assert all(item.reason for item in found)
    assert all(item.associations is None or item.associations >= 0 for item in found)
