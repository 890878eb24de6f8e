"""The parts of an exactly determined solve against their definitions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import pytest
import torch

from rote.constructions.common.random_attention.absorbed_skip import SkipBasis
from rote.constructions.common.random_attention.codes import answer_code, targets
from rote.constructions.common.random_attention.draw import ScoreSize, draw_embeddings, draw_heads
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.saturation import PAD_DEPTH
from rote.constructions.common.solvers.exactly_determined import (
    Factors,
    SingularValues,
    columns_first,
    lu_in_place,
    refine,
)
from rote.constructions.dana2025.bordered import draw_groups
from rote.constructions.dana2025.bordered_group import GroupDraw
from rote.constructions.dana2025.gated_heads import draw_gated_embeddings, draw_gated_heads, group_last_tokens
from rote.constructions.dana2025.threshold_heads import draw_threshold_embeddings, draw_threshold_heads
from rote.models.attention_only import AttentionOnly
from rote.models.forward.attention_only import head_values
from rote.progress import SILENT
from rote.threads import Crew

SPEC = AttentionOnly(vocab=12, context=4, dim=9, head_dim=5, heads=7)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def contexts(facts: int, spec: AttentionOnly = SPEC) -> torch.Tensor:
    return torch.randint(0, spec.vocab, (facts, spec.context), generator=generator(9))


def test_features_are_the_forward_pass_centred():
    embeddings = draw_embeddings(SPEC, torch.float64, generator())
    heads = draw_heads(SPEC.heads, SPEC, 5.0, torch.float64, generator(1))
    rows = contexts(40)
    found = torch.empty(40, SPEC.heads * SPEC.head_dim, dtype=torch.float64)
    Differences(embeddings, rows).features(heads, SPEC.head_dim, found)
    x = embeddings.tokens[rows] + embeddings.positions
    part = {"query": heads.query, "key": heads.key, "value": heads.value}
    values = head_values(part, x[:, -1:], x)[:, 0]
    centred = values - torch.einsum("hkd,td->thk", heads.value, x[:, -1])
    torch.testing.assert_close(found, centred.flatten(1))


def test_score_size_is_what_was_asked():
    spec = AttentionOnly(vocab=400, context=2, dim=32, head_dim=8, heads=50)
    embeddings = draw_embeddings(spec, torch.float64, generator())
    heads = draw_heads(50, spec, 7.0, torch.float64, generator(1))
    x = embeddings.everywhere()
    scores = torch.einsum("ud,hrd,hre,ve->huv", x[1], heads.query, heads.key, x[0])
    assert float(scores.std()) == pytest.approx(7.0, rel=0.15)


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("more", [0, 3, 40])
def test_least_norm_solution(double, more):
    features = torch.randn(120, 120 + more, generator=generator(), dtype=torch.float64)
    right = torch.randn(120, 4, generator=generator(1), dtype=torch.float64)
    exact = torch.linalg.pinv(features) @ right
    for factors in (Factors(features, double), SingularValues(features)):
        refined = refine(features, factors, right, tolerance=1e-9)
        assert refined.residual < 1e-8
        torch.testing.assert_close(refined.solution, exact, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("rows", "columns"), [(9, 9), (30, 12), (1, 1)])
def test_factors_in_place_multiply_to_the_rows_in_their_order(rows, columns):
    matrix = torch.randn(rows, columns, generator=generator(), dtype=torch.float64)
    turned = columns_first(matrix)
    factors = lu_in_place(turned)
    assert factors.packed is turned
    assert sorted(factors.order.tolist()) == list(range(rows))
    lower = factors.packed.tril(-1) + torch.eye(rows, columns, dtype=torch.float64)
    torch.testing.assert_close(lower @ factors.packed[:columns].triu(), matrix[factors.order])
    assert not factors.singular
    assert lu_in_place(torch.zeros(columns, rows, dtype=torch.float64).t()).singular


def test_a_group_eliminates_and_solves():
    """Elimination with a border is the solution of the complete square system."""
    spec = AttentionOnly(vocab=30, context=3, dim=14, head_dim=4, heads=10)
    rows = contexts(600, spec)
    last, place = torch.unique(rows[:, -1], return_inverse=True)
    groups = group_last_tokens(place, 60)
    embeddings, codes = draw_gated_embeddings(spec, groups, last, None, torch.float64, generator())
    differences = Differences(embeddings, rows)
    draw = GroupDraw(groups.rows[2], codes[2], differences, 4, spec, 0.8)
    group = draw.best(draw.sample(ScoreSize(), generator(1))(), ScoreSize(), generator(1))
    count, size = len(group.square), len(group.rows)
    assert 0 < count < size
    features = torch.empty(size, count, dtype=torch.float64)
    differences.features(group.heads, 4, features, group.rows)
    seen = torch.randn(size, size - count, generator=generator(2), dtype=torch.float64)
    wanted = torch.randn(size, 3, generator=generator(3), dtype=torch.float64)
    whole = torch.linalg.solve(torch.cat([features, seen], 1), wanted)
    reduced = group.reduce(torch.cat([seen, wanted], 1))
    border = torch.linalg.solve(reduced.left[:, : size - count], reduced.left[:, size - count :])
    torch.testing.assert_close(border, whole[count:], rtol=1e-4, atol=1e-6)
    of_seen, of_wanted = reduced.eliminated.split([size - count, 3], 1)
    torch.testing.assert_close(group.solve(of_wanted - of_seen @ border), whole[:count], rtol=1e-4, atol=1e-6)


def test_groups_that_are_drawn_ahead_are_those_of_one_after_the_other():
    """Also where a sample is rejected, after which the generator goes on from there."""
    spec = AttentionOnly(vocab=30, context=3, dim=14, head_dim=4, heads=10)
    rows = contexts(600, spec)
    last, place = torch.unique(rows[:, -1], return_inverse=True)
    groups = group_last_tokens(place, 60)
    embeddings, codes = draw_gated_embeddings(spec, groups, last, None, torch.float64, generator())
    differences = Differences(embeddings, rows)
    draws = [GroupDraw(own, code, differences, 4, spec, 0.8) for own, code in zip(groups.rows, codes, strict=True)]
    alone = [draw.best(draw.sample(ScoreSize(), generator(1))(), ScoreSize(), generator()) for draw in draws]
    median = sorted(group.condition for group in alone)[len(alone) // 2]
    found = []
    for threads in (1, 3):
        used = generator(5)
        pool = ThreadPoolExecutor(threads) if threads > 1 else None
        with patch("rote.constructions.dana2025.bordered_group.condition_limit", lambda _: median):
            drawn, _ = draw_groups(draws, ScoreSize(), used, Crew(threads, pool), SILENT)
        found.append((drawn, used.get_state()))
    assert len(found[0][0]) == len(draws) > 3
    for one, other in zip(found[0][0], found[1][0], strict=True):
        assert torch.equal(one.rows, other.rows)
        assert torch.equal(one.square, other.square)
    assert torch.equal(found[0][1], found[1][1])


def test_rank_is_told_from_few_facts_where_they_span_all_and_from_all_where_they_do_not():
    spec = AttentionOnly(vocab=12, context=4, dim=9, head_dim=5, heads=7)
    embeddings = draw_embeddings(spec, torch.float64, generator())
    differences = Differences(embeddings, contexts(2000, spec))
    assert differences.rank() == 9
    # The first facts differ in one place alone, where two tokens stand; the last one has others.
    alike = torch.zeros(2000, 4, dtype=torch.long)
    alike[::2, 0] = 1
    low = Differences(embeddings, alike)
    alike[-1] = torch.tensor([5, 6, 7, 8])
    rank = low.rank()
    assert Differences(embeddings, alike).rank() == rank + 3


def test_condition_estimate():
    left = torch.linalg.qr(torch.randn(300, 300, generator=generator(), dtype=torch.float64))[0]
    matrix = left * torch.logspace(0, -4, 300, dtype=torch.float64) @ left.T
    estimate = Factors(matrix, False).condition(generator(2))
    assert 3e3 < estimate < 1.05e4
    assert Factors(torch.zeros(30, 30, dtype=torch.float64), False).condition(generator()) == float("inf")


@pytest.mark.parametrize("last", [3, 9, 20])
def test_skip_map_reproduces_the_solved_columns(last):
    """x_S M = skip columns @ solved - x_S @ values for every last token, and M is invertible."""
    tokens = torch.randn(last, 9, generator=generator(), dtype=torch.float64)
    skip = SkipBasis(tokens)
    assert skip.columns == min(last, 9)
    solved = torch.randn(skip.columns, 9, generator=generator(1), dtype=torch.float64)
    values = torch.randn(9, 9, generator=generator(2), dtype=torch.float64)
    gauge = skip.skip_map(solved, values)
    columns = skip.features(torch.arange(last))
    torch.testing.assert_close(tokens @ gauge, columns @ solved - tokens @ values)
    assert float(torch.linalg.cond(gauge)) < 1e4


@pytest.mark.parametrize(("answers", "dim"), [(1, 5), (2, 1), (2, 2), (50, 2), (5, 9), (60, 3), (300, 20)])
def test_codes_are_their_own_nearest(answers, dim):
    code = answer_code(answers, dim, generator())
    assert code.shape == (answers, dim)
    place = torch.arange(answers).repeat(3)
    logits = targets(code, place, generator(1)) @ code.T
    own = logits.gather(1, place[:, None])
    assert bool((own > 0).all())
    others = logits.scatter(1, place[:, None], -float("inf"))
    assert bool((own > others.amax(1, keepdim=True)).all())


@pytest.mark.parametrize(("answers", "dim", "times"), [(200, 3, 4), (600, 8, 2), (1500, 20, 1.5)])
def test_codes_are_further_apart_than_random_ones(answers, dim, times):
    code = answer_code(answers, dim, generator())
    plain = torch.randn(answers, dim, generator=generator(), dtype=torch.float64)
    plain = plain / plain.norm(dim=1, keepdim=True)
    nearest = [(c @ c.T).fill_diagonal_(-1).max() for c in (code, plain)]
    assert float(torch.arccos(nearest[0])) > times * float(torch.arccos(nearest[1]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gates_close_exactly(dtype):
    spec = AttentionOnly(vocab=30, context=3, dim=14, head_dim=4, heads=10)
    rows = contexts(600, spec)
    last, place = torch.unique(rows[:, -1], return_inverse=True)
    groups = group_last_tokens(place, 60)
    assert sorted(torch.cat(groups.rows).tolist()) == list(range(600))
    embeddings, codes = draw_gated_embeddings(spec, groups, last, None, dtype, generator())
    differences = Differences(embeddings, rows)
    heads = draw_gated_heads(6, codes[2], spec, 5.0, differences, generator(1), groups.rows[2])
    found = torch.empty(600, 24, dtype=torch.float64)
    differences.features(heads, 4, found)
    outside = torch.ones(600, dtype=torch.bool)
    outside[groups.rows[2]] = False
    assert float(found[outside].abs().max()) < 1e-15
    assert float(found[~outside].norm(dim=1).min()) > 1e-6
    x = embeddings.everywhere()[-1, last].to(dtype)
    gates = x @ heads.query[:, 1].T
    assert bool((gates[groups.of_last_token == 2] == 0).all())


def test_groups_gather_rare_last_tokens():
    counts = [500, 90, 60, 40, 30, 5, 5, 5]
    place = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    groups = group_last_tokens(place, 100)
    assert [len(rows) for rows in groups.rows] == [500, 150, 85]


def test_padding_is_out_of_sight():
    embeddings = draw_threshold_embeddings(SPEC, 0, torch.float32, generator())
    rows = contexts(200)
    rows[:, -1].clamp_(min=1)
    heads = draw_threshold_heads(SPEC.heads, SPEC, 5.0, Differences(embeddings, rows), generator(1))
    moved = embeddings.tokens.clone()
    moved[0, :-2] += 1
    shifted = type(embeddings)(moved, embeddings.positions)
    one, two = (torch.empty(200, SPEC.heads * SPEC.head_dim, dtype=torch.float64) for _ in range(2))
    Differences(embeddings, rows).features(heads, SPEC.head_dim, one)
    Differences(shifted, rows).features(heads, SPEC.head_dim, two)
    seen = (rows[:, :-1] != 0).any(1)
    assert PAD_DEPTH > 100
    torch.testing.assert_close(one[seen], two[seen])
