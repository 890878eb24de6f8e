"""Plans: rows hold the facts, are minimal, and count what they say."""

import lzma
import math
import zipfile

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given, settings

from rote.constructions import CONSTRUCTIONS
from rote.errors import InputError
from rote.experiments.sizing.built import PlannedBuild, built_row, expected_row, planned_builds
from rote.experiments.sizing.folder_sizes import FolderSizes, header_bytes
from rote.experiments.sizing.plan import alternatives, csv_text, facts_as_text, plan, trie_bytes
from rote.experiments.sizing.row import PlanRow
from rote.experiments.sizing.theory import rows_without_model, theory_rows
from rote.experiments.storage import entropy_bits, fixed_width_bits, key_set_bits, zipped_bytes
from rote.folders import read_folder, write_folder
from rote.folders.folder import weights_bytes
from rote.models.attention_only import AttentionOnly
from rote.models.spec import spec_from_config
from rote.report.build_command import build_command
from rote.tasks import AssociationTask, DistributionTask
from rote.tasks.facts import facts
from rote.testing.task_shapes import AIRPORTS, shapes
from rote.theory.dana2025 import smallest_corollary1, smallest_remark2, smallest_remark2_flat, smallest_theorem1
from rote.theory.nichani2024 import linear_capacity, smallest_linear_memory
from rote.theory.rote_readout import holds as readout_holds
from rote.theory.rote_readout import smallest_readout
from rote.theory.sizes import fewest_heads, task_rank

FACTS = [((f"word{i % 20}", f"name{i // 20}"), f"answer{i % 7}") for i in range(300)]
SMALL = AssociationTask.from_facts(FACTS[:60])
BUILDS = [planned.id for planned in planned_builds(SMALL)]
SLOW_ON_COUNTRIES = {"rote.readout", "huben2023"}
"""A fit of a minute, and a solve of some seconds; `benchmarks/plan.py` builds them as well."""


@pytest.fixture(scope="module")
def small_plan() -> dict[tuple[str, str], PlanRow]:
    return {(row.section, row.id): row for row in plan(SMALL)}


def check_planned_is_built(id: str, task: AssociationTask, dtype: str | None, folder) -> None:
    planned = next(planned for planned in planned_builds(task) if planned.id == id)
    row = expected_row(planned, task, dtype, FolderSizes(task))
    if row.section == "rejected":
        with pytest.raises(InputError):
            planned.build(task, dtype)
        return
    built = built_row(planned, task, dtype)
    if row.section == "builds":
        assert (row.parameters, row.spec, row.weights) == (built.parameters, built.spec, built.weights)
        assert abs(row.bytes - built.bytes) < 400  # a certificate, whose numbers are not known before
    elif id.startswith("kajitsuka2025") and built.section != "rejected":
        assert 0.5 < row.weights / built.weights < 2
        assert 0.5 < row.parameters / built.parameters < 2
    if built.section == "builds":
        model = planned.build(task, dtype)
        write_folder(folder, model.model, task.origin, model.provenance, model.certificate)
        # What was measured on the way may be written in a digit more or less.
        assert abs(built.bytes - sum(file.stat().st_size for file in folder.iterdir())) < 8
        assert built.weights == weights_bytes(model.model)
        assert read_folder(folder).model.parameters == built.parameters


@pytest.mark.parametrize("id", BUILDS)
def test_what_is_planned_for_a_small_table_is_built(id, tmp_path):
    check_planned_is_built(id, SMALL, None, tmp_path / "model")


@pytest.mark.parametrize("id", [id for id in BUILDS if id not in SLOW_ON_COUNTRIES])
def test_what_is_planned_for_countries_is_built(id, tmp_path):
    check_planned_is_built(id, facts("countries"), None, tmp_path / "model")


@pytest.mark.parametrize("id", ["dana2025.theorem1", "nichani2024.trained", "kajitsuka2025.deep_sets"])
def test_what_is_planned_in_half_precision_is_built_or_refused(id, tmp_path):
    check_planned_is_built(id, facts("countries"), "bfloat16", tmp_path / "model")


def test_a_start_that_may_grow_is_an_estimate():
    task = facts("countries")
    planned = next(planned for planned in planned_builds(task) if planned.id == "rote.readout")
    row = expected_row(planned, task, None, FolderSizes(task))
    assert (row.section, row.parameters, row.weights) == ("estimates", 36_880, 4 * 36_880)
    assert "heads are added" in row.reason


def test_a_plan_builds_the_smallest_and_estimates_the_rest(monkeypatch):
    calls = []
    build = PlannedBuild.build
    monkeypatch.setattr(PlannedBuild, "build", lambda self, *given: calls.append(self.id) or build(self, *given))
    rows = {row.id: row for row in plan("countries") if row.construction != "none"}
    assert set(calls) <= {"kajitsuka2025.embedding_table", "rote.selector", "dana2025.remark2", "rote.memory_layer"}
    assert rows["kajitsuka2025.embedding_table"].section == rows["rote.selector"].section == "builds"
    assert rows["huben2023"].section == "estimates"
    assert rows["kajitsuka2025.embedding_table"].bytes < 9_000


def test_many_facts_are_planned_without_a_build_that_takes_long(monkeypatch):
    build = PlannedBuild.build

    def build_in_linear_time(self, *given):
        return build(self, *given) if self.id == "rote.memory_layer" else pytest.fail(f"{self.id} was built")

    monkeypatch.setattr(PlannedBuild, "build", build_in_linear_time)
    many = AssociationTask.from_facts([((f"a{i % 200}", "b", f"a{i // 200}"), f"c{i % 9}") for i in range(20_000)])
    rows = {row.id: row for row in plan(many)}
    assert rows["kajitsuka2025.deep_sets"].section == rows["dana2025.theorem1"].section == "estimates"


def test_alternatives_are_as_large_as_they_are_written(tmp_path):
    task = facts("countries")
    sizes = FolderSizes(task)
    rows = {row.id: row.bytes for row in alternatives(task, sizes.words, sizes.keys)}
    pairs = facts_as_text(task)
    assert ("capital\tFrance", "Paris") in pairs
    assert rows["xz"] == len(lzma.compress(csv_text(pairs), preset=9 | lzma.PRESET_EXTREME))
    assert rows["retrieval"] < rows["xz"] < rows["zip"] < rows["trie"] < rows["sqlite"]
    assert facts_as_text(facts("airports"))[0][0] == "AAA"


def test_a_trie_counts_letters_nodes_and_values_once():
    # root, "ab" (two letters, ends), "c" and "d" below it, both end: 4 nodes, 4 letters, 1 byte for "ab".
    assert trie_bytes(["ab", "abc", "abd"], 4) == 4 + 1 + -(-(4 * 4 + 3 * 4) // 8)
    assert trie_bytes(["abc", "abd"], 4) == 4 + 1 + -(-(4 * 4 + 2 * 4) // 8)
    assert trie_bytes(["x"], 1) == 1 + -(-(4 * 2 + 1) // 8)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_the_header_of_a_file_of_weights_is_known_before(dtype):
    spec = AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20)
    tensors = {name: torch.zeros(shape, dtype=getattr(torch, dtype)) for name, shape in spec.shapes().items()}
    written = safetensors.torch.save(tensors)
    assert header_bytes(spec.shapes(), {}, dtype) == len(written) - sum(t.nbytes for t in tensors.values())


def test_every_method_has_a_row_with_its_command(small_plan):
    by_method = {
        row.construction: row for (section, _), row in small_plan.items() if section in ("builds", "estimates")
    }
    stores_associations = {id for id, planned in CONSTRUCTIONS.items() if AssociationTask in planned.tasks}
    rejected = {row.construction for (section, _), row in small_plan.items() if section == "rejected"}
    assert set(by_method) | rejected >= stores_associations
    for id, row in by_method.items():
        assert f"--method {id}" in (build_command(row, "facts.csv", None) or "")
        assert row.possible


def test_a_named_dtype_is_in_the_command():
    commands = {row.id: build_command(row, "a b.csv", "float64", " --keys words") for row in plan(SMALL)}
    assert commands["dana2025.remark2"] == (
        "rote build 'a b.csv' --method dana2025.theorem1 --rank-one --dtype float64 --keys words -o model"
    )
    with pytest.raises(InputError, match="dtype"):
        plan(SMALL, dtype="int8")


def test_sections_are_sorted_by_bytes_and_orders_have_none(small_plan):
    for section in ("builds", "estimates", "no model"):
        sizes = [row.bytes for (name, _), row in small_plan.items() if name == section]
        assert sizes == sorted(sizes)
    orders = [row for (section, _), row in small_plan.items() if section == "orders"]
    assert {"morris2025.bits", "kajitsuka2025.theorem4_1"} <= {row.id for row in orders}
    assert all(row.bytes is None and build_command(row, "f", None) is None for row in orders)


def test_mahdavi_is_impossible_for_recurring_queries():
    row = next(row for row in theory_rows(AIRPORTS, AssociationTask) if row.id == "mahdavi2024.theorem1")
    assert (row.section, row.possible, row.bytes) == ("rejected", False, None)
    assert "26 last tokens" in row.reason


def test_keys_of_one_token_need_no_attention():
    task = AssociationTask.from_facts([((f"key{i}",), f"answer{i % 10}") for i in range(30)])
    rows = {row.id: row for row in plan(task) if row.section in ("builds", "rejected")}
    assert rows["dana2025.theorem1"].section == "rejected"
    assert "one token" in rows["dana2025.theorem1"].reason
    assert rows["nichani2024.trained"].section == rows["kajitsuka2025.embedding_table"].section == "builds"


def test_plan_of_distributions_has_their_methods():
    task = DistributionTask.from_dense(np.array([[0, 1], [1, 0], [2, 2]]), np.full((3, 4), 0.25))
    rows = {row.id: row for row in plan(task) if row.section == "builds"}
    assert {"dana2025.sequence_encoder", "dana2025.proposition2"} <= set(rows)
    assert "dana2025.theorem1" not in rows


@settings(max_examples=15)
@given(shapes())
def test_rows_without_a_construction_say_what_they_rest_on(shape):
    limit = rows_without_model(shape, 32, 10)[0]
    for row in [*theory_rows(shape, AssociationTask), *rows_without_model(shape, 32, 10)]:
        assert row.reason
        if row.spec is not None:
            assert row.parameters == spec_from_config(row.spec, "test").parameters()
        if row.section == "orders" and row.kind == "lower":
            assert row.parameters >= limit.parameters


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
    assert readout_holds(shape, spec.dim, spec.head_dim, spec.heads)
    if spec.heads > 1:
        assert not readout_holds(shape, spec.dim, spec.head_dim, spec.heads - 1)
    for dim in range(5, 33):
        for heads in (1, 5, 20):
            other = AttentionOnly(
                vocab=shape.vocab,
                context=shape.context,
                dim=dim,
                head_dim=min(dim, max(1, shape.key_tokens - 1)),
                heads=heads,
            )
            assert not readout_holds(shape, dim, other.head_dim, heads) or other.parameters() >= spec.parameters()


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


def test_a_table_is_smaller_than_a_zip_of_its_words():
    task = AssociationTask.from_facts(FACTS)
    rows = {row.id: row for row in rows_without_model(task.shape, 32, zipped_bytes(task))}
    assert rows["table.entropy"].bytes <= rows["table.fixed"].bytes < rows["zip"].bytes
