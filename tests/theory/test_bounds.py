"""Every bound: the published values, a sandwich between what is stored and what is impossible, and total functions."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.models import AttentionOnly, DeepRelu, LinearMemory, MlpTransformer, QueryAttention, SequenceEncoder, Spec
from rote.testing.specifications import small, spec_or_skip
from rote.theory import RESULTS, Bound, bounds, counted
from rote.theory.bound import SECTIONS
from rote.theory.dana2025 import guaranteed
from rote.theory.exact_rank import all_contexts, exact_rank
from rote.theory.nichani2024 import linear_capacity
from rote.theory.rote_rank import rank_of


def by_id(**sizes) -> dict[str, Bound]:
    return {item.id: item for item in bounds(AttentionOnly(**sizes))}


def of(vocab: int, context: int, dim: int, head_dim: int, heads: int, **more) -> dict[str, Bound]:
    return by_id(vocab=vocab, context=context, dim=dim, head_dim=head_dim, heads=heads, **more)


def test_published_example():
    found = of(50, 2, 10, 10, 20)
    assert (found["dana2025.theorem1"].associations, found["dana2025.theorem1"].parameters) == (210, 9020)
    assert found["mahdavi2024.theorem1"].associations == 21
    assert found["dana2025.previous"].associations == 181
    assert found["dana2025.remark2"].parameters == 10 * (2 + 100 + 2 * 11 * 20)
    assert found["rote.rank"].associations == 210
    assert found["rote.readout"].associations == math.floor(2 * (10 * 210 + 50 * 10) / math.log2(50))
    assert found["rote.counting"].bits == 32 * 9020


@pytest.mark.parametrize(
    ("sizes", "promise", "rank"),
    [
        ((5, 2, 10, 10, 2), 30, 15),
        ((5, 3, 12, 12, 8), 108, 53),
        ((8, 2, 20, 20, 3), 80, 32),
        ((4, 4, 8, 8, 20), 168, 124),
    ],
)
def test_counterexamples_to_lemma_2(sizes, promise, rank):
    found = of(*sizes)
    theorem = found["dana2025.theorem1"]
    assert not theorem.applies
    assert theorem.associations is None
    assert "rote.rank" in theorem.reason
    assert (
        guaranteed(AttentionOnly(**dict(zip(("vocab", "context", "dim", "head_dim", "heads"), sizes, strict=True))))
        == promise
    )
    assert found["rote.rank"].associations == min(rank, sizes[0] ** sizes[1])


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((5, 2, 10, 5, 2), "dim <= vocab"),
        ((5, 2, 10, 6, 2), "head_dim <= vocab + context - 2 = 5"),
        ((50, 12, 10, 10, 2), None),
    ],
)
def test_theorem1_names_the_condition(sizes, words):
    theorem = of(*sizes)["dana2025.theorem1"]
    assert theorem.applies == (words is None)
    assert words is None or words in theorem.reason


def test_results_are_counted():
    papers = {id.partition(".")[0] for id in RESULTS} - {"rote"}
    assert counted() == f"{len(RESULTS)} results from {len(papers)} papers and rote itself"


def test_the_rank_carries_its_condition_on_the_facts():
    """N = 50, S = 4, d = k = 10, H = 10: 110 facts in general, and 82 of the 110 crowded ones of docs/lemma2.md."""
    found = of(50, 4, 10, 10, 10)
    for id in ("dana2025.theorem1", "rote.rank"):
        assert found[id].associations == 110
        assert "crowd on few tokens" in found[id].reason
    assert found["rote.any_facts"].associations == 11
    pairs = of(50, 2, 10, 10, 20)
    assert "at least 10 different last tokens; whatever the facts, 205" in pairs["rote.rank"].reason
    assert pairs["rote.any_facts"].associations == 205


@pytest.mark.parametrize(("vocab", "width", "heads"), [(5, 2, 4), (4, 3, 3), (7, 2, 9), (6, 3, 2)])
def test_any_pairs_are_held_by_exact_rank(vocab, width, heads):
    """The most crowded sets: pairs that end in as few tokens as possible, or use as few tokens as possible."""
    guaranteed = of(vocab, 2, width, width, heads)["rote.any_facts"].associations
    pairs = all_contexts(vocab, 2)
    by_last = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
    by_token = pairs[np.argsort(pairs.max(1), kind="stable")]
    for order in (by_last, by_token):
        assert exact_rank(order[:guaranteed], width, width, heads) == guaranteed
    if guaranteed < len(pairs) and guaranteed < of(vocab, 2, width, width, heads)["rote.rank"].associations:
        assert exact_rank(by_last[: guaranteed + 1], width, width, heads) == guaranteed


def test_sizes_outside_the_proof_and_the_certified_range_say_so():
    outside = of(5, 6, 12, 12, 3)["rote.rank"]
    assert not outside.applies
    assert "certified (at most 1,100 contexts); conjectured there: 32" in outside.reason
    assert of(5, 4, 12, 12, 3)["rote.rank"].associations == 26


def test_context_must_fit_in_dim_for_mahdavi():
    found = of(50, 12, 10, 10, 2)
    assert not found["mahdavi2024.theorem1"].applies
    assert "context < dim" in found["mahdavi2024.theorem1"].reason
    assert not found["dana2025.previous"].applies


@pytest.mark.parametrize("more", [{"layers": 2}, {"variant": "shared"}])
def test_results_about_one_layer_say_so(more):
    found = by_id(vocab=50, context=2, dim=20, head_dim=10, heads=5, **more)
    for id in ("dana2025.theorem1", "rote.rank", "mahdavi2024.theorem1", "rote.readout", "madden2025.lower"):
        assert not found[id].applies
        assert ("one layer" in found[id].reason) == ("layers" in more)
    assert found["rote.counting"].applies


def test_remark2_of_a_rank_one_specification_is_itself():
    thin = by_id(vocab=50, context=2, dim=10, head_dim=10, heads=20, query_key_rank=1)
    assert thin["dana2025.theorem1"].parameters == thin["dana2025.remark2"].parameters == 5420


def test_corollary1_counts_parameters_as_the_paper_does():
    found = of(50, 2, 10, 2, 20)["dana2025.corollary1"]
    assert found.associations == 42
    assert found.parameters == 2 * (2 + 2 * 50 + 4 * (42 - 2))


def test_heads_wider_than_dim_add_only_dim():
    """Experiment 6 counts 102 with d_h = 5 at d = 2, beyond d_h <= d: features of two dimensions add 2 per head."""
    found = by_id(vocab=10, context=2, dim=2, head_dim=5, heads=20, wide_heads=True)
    assert not found["dana2025.theorem1"].applies
    assert found["rote.rank"].associations == found["dana2025.corollary1"].associations == 42


@given(small)
def test_sandwich(sizes):
    """Lower bounds about this architecture never exceed its feature rank, and nothing exceeds what is possible."""
    spec = spec_or_skip(sizes)
    found = {item.id: item for item in bounds(spec)}
    limit = spec.vocab**spec.context
    impossible = min(found["rote.counting"].associations, limit)
    own = ("dana2025.theorem1", "dana2025.remark2", "dana2025.corollary2", "dana2025.previous", "mahdavi2024.theorem1")
    for id in own:
        if found[id].applies and found["rote.rank"].applies:
            assert found[id].associations <= found["rote.rank"].associations, id
    for item in found.values():
        assert item.associations is None or 1 <= item.associations <= limit
        if item.kind == "lower" and item.associations is not None:
            assert item.associations <= impossible, item.id


@given(small, st.integers(1, 10))
def test_more_heads_never_hold_less(sizes, more):
    spec = spec_or_skip(sizes)
    wider = spec.model_copy(update={"heads": spec.heads + more})
    for result in RESULTS.values():
        before, after = result.bound(spec), result.bound(wider)
        assert after.applies or not before.applies
        if before.associations is not None:
            assert after.associations >= before.associations


@given(small)
def test_the_strongest_guarantee_and_impossibility_come_first(sizes):
    spec = spec_or_skip(sizes)
    found = bounds(spec)
    assert {bound.id for bound in found} == set(RESULTS)
    sections = [SECTIONS.index(item.section) for item in found]
    assert sections[2:] == sorted(sections[2:])
    own = [item for item in found if item.section in ("guaranteed", "impossible") and item.associations]
    lower = [item.associations for item in own if item.kind == "lower"]
    upper = [item.associations for item in own if item.kind == "upper"]
    if lower and upper:
        assert [item.section for item in found[:2]] == ["guaranteed", "impossible"]
        assert (found[0].associations, found[1].associations) == (max(lower), min(upper))
        assert found.guaranteed is found[0]
        assert found.impossible is found[1]
        assert max(lower) <= min(upper)
    assert not any(item.matched for item in own)
    shown = repr(found)
    assert all(item.id in shown for item in found.listed)
    assert {item.id for item in found.listed} | {item.id for item in found.folded} == {b.id for b in found if b.applies}
    assert all(item.capped and item.section not in ("guaranteed", "impossible") for item in found.folded)


@given(small)
def test_parameters_are_those_of_the_specification(sizes):
    spec = spec_or_skip(sizes)
    found = {item.id: item for item in bounds(spec)}
    for id in ("dana2025.theorem1", "rote.rank", "rote.readout", "rote.counting", "morris2025.bits"):
        assert found[id].parameters == spec.parameters()
    flat = AttentionOnly(
        vocab=spec.vocab, context=spec.context, dim=2, head_dim=min(2, spec.head_dim), heads=spec.heads,
        layers=spec.layers,
    )  # fmt: skip
    assert found["dana2025.corollary1"].parameters == flat.parameters()


@given(st.integers(1, 2**40))
def test_linear_capacity_solves_its_equation(dim):
    T = linear_capacity(dim)
    assert 2 * T * math.log(T) <= dim**2 < 2 * (T + 1) * math.log(T + 1) * (1 + 1e-12)


def test_an_mlp_transformer_is_bounded_as_what_it_is():
    found = {
        item.id: item for item in bounds(MlpTransformer(vocab=50, context=2, dim=10, head_dim=10, heads=3, width=100))
    }
    neurons, theorem = found["madden2025.lower"], found["dana2025.theorem1"]
    assert (neurons.associations, neurons.matched, neurons.about) == (100, False, "mlp-transformer")
    assert (theorem.associations, theorem.matched, theorem.about) == (3 * 10 + 10, True, "attention-only")
    assert theorem.reason.startswith("attention-only, dim 10, head_dim 10, heads 3: ")
    assert found["rote.counting"].parameters == 10 * (2 + 100 + 4 * 10 * 3) + 2 * 10 * 100 + 100
    thin = {item.id: item for item in bounds(MlpTransformer(vocab=5, context=2, dim=4, head_dim=4, width=0))}
    assert "neuron" in thin["madden2025.lower"].reason


def test_each_other_architecture_is_bounded_as_what_it_is():
    def found(id: str, spec: Spec) -> Bound:
        bound = RESULTS[id].bound(spec)
        assert not bound.matched
        return bound

    encoder = SequenceEncoder(vocab=10, context=2, contexts=30, dim=4)
    memory = LinearMemory(vocab=90, context=2, inputs=70, dim=40)
    query = QueryAttention(context=4, dim=6, head_dim=5, heads=3, outputs=1)
    relu = DeepRelu(vocab=10, context=2, layers_before=1, layers_after=20, width=14, word_bits=20)
    assert found("dana2025.proposition3", encoder).associations == 30
    assert found("rote.counting", encoder).associations == 30  # rows
    assert found("bietti2023.outer_product", memory).associations == 40
    assert found("nichani2024.linear_memory", memory).associations == 70  # keys, of 142
    assert found("mahdavi2024.theorem1", query).associations == 3 * (4 - 1) + 1
    assert found("kajitsuka2025.theorem4_1", relu).parameters <= relu.parameters()
    assert not found("rote.counting", query).applies
    assert not RESULTS["dana2025.theorem1"].bound(query).applies
    assert RESULTS["dana2025.theorem1"].bound(encoder).matched


@given(small)
def test_without_heads_no_more_than_one_fact_per_last_token_is_promised(sizes):
    spec = spec_or_skip({**sizes, "heads": 0})
    for item in bounds(spec):
        assert item.matched or item.associations is None or item.associations <= spec.vocab, item.id
    theorem = RESULTS["dana2025.theorem1"].bound(spec)
    assert not theorem.applies
    if spec.layers == 1 and not spec.compressed:
        rank = RESULTS["rote.rank"].bound(spec)
        assert rank.associations == (None if spec.dim == 1 else min(spec.dim, spec.vocab))
        assert "at least one head" in theorem.reason


def test_contexts_are_never_exceeded_nor_written_out():
    huge = by_id(vocab=2**20, context=2**20, dim=2, head_dim=1, heads=1)
    assert huge["dana2025.proposition1"].associations is None
    few = of(2, 2, 2, 2, 100)
    assert few["rote.rank"].associations == 4
    assert "4 contexts" in few["rote.rank"].reason
    assert rank_of(AttentionOnly(vocab=2, context=2, dim=2, head_dim=2, heads=100)) == 202


def test_bounds_import_no_numerics():
    code = "import sys; from rote.theory import bounds; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "torch", "scipy", "polars"}
