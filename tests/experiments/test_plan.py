"""Plans: rows hold the facts, are minimal, and count what they say."""

import math
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings

from rote.constructions import CONSTRUCTIONS
from rote.errors import InputError
from rote.experiments.plan import BUILT_BY, plan
from rote.experiments.storage import entropy_bits, fixed_width_bits, key_set_bits, zipped_bytes
from rote.models.attention_only import AttentionOnly
from rote.models.spec import spec_from_config
from rote.tasks import AssociationTask, DistributionTask
from rote.tasks.shape import TaskShape
from rote.theory import RESULTS
from rote.theory.dana2025 import smallest_corollary1, smallest_remark2, smallest_remark2_flat, smallest_theorem1
from rote.theory.nichani2024 import linear_capacity, smallest_linear_memory
from rote.theory.readout_sizes import holds as readout_holds
from rote.theory.rote_readout import smallest_readout
from rote.theory.sizes import fewest_heads, task_rank, theorem1_spec
from task_shapes import AIRPORTS, shapes

INVERTED = {id for id, result in RESULTS.items() if result.smallest}
FACTS = [((f"word{i % 20}", f"name{i // 20}"), f"answer{i % 7}") for i in range(300)]


def test_default_build_size_is_in_the_plan():
    row = next(row for row in plan(AIRPORTS, constructions=["dana2025.theorem1"]) if row.id == "dana2025.theorem1")
    spec = theorem1_spec(AIRPORTS)
    assert row.spec == spec.to_config()
    assert (row.parameters, row.bytes) == (spec.parameters(), 4 * spec.parameters())
    assert row.construction == "dana2025.theorem1"


def test_constructions_named_are_registered():
    assert set(BUILT_BY) <= INVERTED
    assert set(BUILT_BY.values()) <= set(CONSTRUCTIONS)
    rows = {row.id: row.construction for row in plan(AIRPORTS)}
    assert rows["dana2025.remark2"] == rows["dana2025.theorem1"] == "dana2025.theorem1"
    assert rows["dana2025.corollary1"] == "dana2025.corollary1"
    assert rows["bietti2023.outer_product"] == "bietti2023"
    assert rows["morris2025.bits"] == "bound only"
    assert rows["table.fixed"] == "no model"


def test_sorted_by_bytes_and_complete():
    rows = plan(AIRPORTS, zipped=1234, constructions=())
    possible = [row for row in rows if row.possible]
    assert [row.bytes for row in possible] == sorted(row.bytes for row in possible)
    assert not any(row.possible for row in rows[len(possible) :])
    assert {row.id for row in rows} >= {*INVERTED, "table.fixed", "table.entropy", "zip", "rote.counting"}
    assert {row.construction for row in rows} == {"bound only", "no model"}


def test_dtype_scales_bytes_but_not_fixed_words():
    single = {(row.id, row.model): row for row in plan(AIRPORTS, constructions=())}
    double = {(row.id, row.model): row for row in plan(AIRPORTS, dtype="float64", constructions=())}
    for key, row in single.items():
        if key[0].startswith(("dana2025.theorem1", "rote.readout", "madden")):
            assert double[key].bytes == 2 * row.bytes
        if key[0].startswith(("kajitsuka", "table")):
            assert double[key].bytes == row.bytes
    with pytest.raises(InputError, match="dtype"):
        plan(AIRPORTS, dtype="int8", constructions=())


def test_mahdavi_is_impossible_for_recurring_queries():
    row = next(row for row in plan(AIRPORTS, constructions=()) if row.id == "mahdavi2024.theorem1")
    assert not row.possible
    assert row.bytes is None
    assert "26 last tokens" in row.reason


def test_keys_of_one_token_need_no_attention():
    shape = TaskShape(associations=30, vocab=40, context=1, key_tokens=30, last_tokens=30, answers=10, bits=90.0)
    rows = {row.id: row for row in plan(shape, constructions=())}
    assert not rows["dana2025.theorem1"].possible
    assert "one token" in rows["dana2025.theorem1"].reason
    assert rows["nichani2024.linear_memory"].possible


@settings(max_examples=15)
@given(shapes())
def test_rows_hold_the_facts_with_the_parameters_they_report(shape):
    rows = plan(shape, constructions=())
    limit = next(row for row in rows if row.id == "rote.counting")
    for row in rows:
        assert row.reason
        if row.possible and row.id not in ("table.fixed", "table.entropy"):
            assert row.parameters > 0
            assert row.bytes == math.ceil(row.bits / 8)
        if row.spec is not None:
            assert row.parameters == spec_from_config(row.spec, "test").parameters()
        if row.possible and row.kind == "lower":
            assert row.bytes >= limit.bytes


@given(shapes())
def test_attention_only_rows_are_minimal(shape):
    for smallest in (smallest_theorem1, smallest_corollary1, smallest_remark2, smallest_remark2_flat):
        spec = smallest(shape).spec
        assert task_rank(shape, spec.dim, spec.head_dim, spec.heads) >= shape.associations
        if spec.heads > 1:
            assert task_rank(shape, spec.dim, spec.head_dim, spec.heads - 1) < shape.associations


@settings(max_examples=30)
@given(shapes())
def test_dim_two_is_the_smallest_by_formula(shape):
    """No dim from 2 on and no head width gives fewer parameters than the flat rows."""
    flat = smallest_corollary1(shape).spec.parameters()
    thin = smallest_remark2_flat(shape).spec.parameters()
    N, S = shape.vocab, shape.context
    for d in (2, 3, 4, 5, 8, 13, 20, 32, 60):
        for k in {1, 2, d // 2, d - 1, d}:
            if 1 <= k < max(2, shape.key_tokens):
                H = fewest_heads(shape, d, k)
                assert d * (S + 2 * N + 4 * k * H) >= flat
                assert d * (S + 2 * N + 2 * (k + 1) * H) >= thin


@settings(max_examples=15)
@given(shapes())
def test_readout_row_is_minimal(shape):
    if shape.vocab < 2:
        return
    spec = smallest_readout(shape).spec
    assert readout_holds(shape, spec)
    if spec.heads > 1:
        assert not readout_holds(shape, spec.model_copy(update={"heads": spec.heads - 1}))
    for dim in range(5, 33):
        for heads in (1, 5, 20):
            other = AttentionOnly(
                vocab=shape.vocab,
                context=shape.context,
                dim=dim,
                head_dim=min(dim, max(1, shape.key_tokens - 1)),
                heads=heads,
            )
            assert not readout_holds(shape, other) or other.parameters() >= spec.parameters()


@given(shapes())
def test_linear_memory_is_minimal(shape):
    dim = smallest_linear_memory(shape).spec.dim
    assert linear_capacity(dim) >= shape.associations
    assert dim == 1 or linear_capacity(dim - 1) < shape.associations


def test_table_of_every_context_needs_no_keys():
    assert key_set_bits(25, 5, 2) == pytest.approx(0, abs=1e-9)
    assert key_set_bits(1, 4, 2) == pytest.approx(4)
    assert key_set_bits(3, 6, 1) == pytest.approx(math.log2(20))
    assert key_set_bits(2, 2**30, 3) == pytest.approx(2 * 90 - 1)


@given(shapes())
def test_a_table_at_entropy_is_no_larger_than_at_fixed_width(shape):
    capped = shape.model_copy(update={"bits": shape.associations * math.log2(shape.answers)})
    assert entropy_bits(capped) <= fixed_width_bits(capped) + 1e-6


def test_zip_of_a_file_and_of_a_task(tmp_path):
    task = AssociationTask.from_facts(FACTS)
    text = "".join(f"{' '.join(key)}\t{answer}\n" for key, answer in FACTS)
    path = tmp_path / "facts.tsv"
    path.write_text(text, encoding="utf-8")
    archive = tmp_path / "facts.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as zipped:
        zipped.write(path, "facts")
    assert zipped_bytes(path) == zipped_bytes(str(path))
    assert abs(zipped_bytes(path) - archive.stat().st_size) < 100
    assert abs(zipped_bytes(task) - zipped_bytes(path)) < 100
    assert zipped_bytes(task) < len(text) / 3
    with pytest.raises(InputError, match="cannot be read"):
        zipped_bytes(tmp_path / "missing.csv")


def test_zip_of_a_distribution_counts_its_weights():
    contexts = np.array([[0, 1], [1, 0], [2, 2]])
    even = DistributionTask.from_dense(contexts, np.full((3, 4), 0.25))
    assert zipped_bytes(even) > 100


def test_plan_of_a_real_task():
    task = AssociationTask.from_facts(FACTS)
    rows = {row.id: row for row in plan(task.shape, zipped=zipped_bytes(task), constructions=())}
    assert rows["table.entropy"].bytes <= rows["table.fixed"].bytes < rows["zip"].bytes
    assert rows["dana2025.theorem1"].possible
