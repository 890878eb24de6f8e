"""Statements about one attention layer: Proposition 1, Lemma 2, Theorems 1 and 3, Corollaries 1 and 2, Remark 2."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from rote.constructions.build import build
from rote.constructions.common.random_attention.draw import ScoreSize, draw_embeddings, draw_heads
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.random_attention.setting import AttentionSetting as Drawn
from rote.constructions.dana2025.best_encoder import best_encoder
from rote.constructions.dana2025.encoder import Encoder, circle_encoder, expected_divergence, truth_and_prior
from rote.constructions.dana2025.output_fits import (
    OutputProblem,
    convex_output,
    exact_output,
    joint_output,
    paper_bound,
    paper_output,
)
from rote.constructions.dana2025.theorem1_distribution import covering
from rote.experiments.statements.distributions import distributions
from rote.experiments.statements.encoders import STEPS, Numbers
from rote.measure.recall import recall
from rote.models.attention_only import AttentionOnly
from rote.papers.kinds.statement_settings import (
    AttentionLayer,
    AttentionRank,
    OneSumOfMany,
    SharpenedTable,
    StoredFacts,
)
from rote.tasks import AssociationTask, DistributionTask, Vocabulary
from rote.theory.phi import phi
from rote.theory.rote_rank import rank_of
from rote.theory.sizes import theorem1_spec

RANK_SCORES = 3.0
"""Standard deviation of scores where a rank is counted: moderate ones leave the clearest fall of singular values."""
RANK_CUT = 1e-12
LARGEST_CONSTANT = 1e10
"""Beyond this the features of the likeliest contexts are singular but for rounding, and C is infinite."""
MORE = 10
"""Contexts beyond those guaranteed on which a rank is counted, where there are so many."""


def layer_numbers(cell: AttentionLayer, seed: int) -> Numbers:
    """Divergences of the encoder and of the layer with each W_O, and the bounds on their difference."""
    task = distributions(cell.distributions, seed)
    truth, prior = truth_and_prior(task)
    encoder = best_encoder(truth, prior, cell.dim, seed=seed, random_starts=1, steps=STEPS).encoder.balanced()
    problem = _problem(task, encoder, cell.dim, cell.head_dim, cell.epsilon, seed)
    floor = expected_divergence(truth, prior, encoder.logits)
    if problem.features.shape[1] >= len(truth):
        reached = problem.divergence(exact_output(problem))
        return {
            "encoder": floor, "exact": reached, "exact_gap": abs(reached - floor), "best": reached,
            "uniform": _uniform(truth, prior),
        }  # fmt: skip
    convex = convex_output(problem)
    best = problem.divergence(convex)
    if cell.joint:
        best = problem.divergence(*joint_output(problem, convex, STEPS))
    proof, bound = problem.divergence(paper_output(problem)), paper_bound(problem)
    finite = bound.constant < LARGEST_CONSTANT
    largest = float((encoder.logits.max(1).values - encoder.logits.min(1).values).max())
    return {
        "epsilon": bound.epsilon,
        "encoder": floor,
        "proof": proof,
        "convex": problem.divergence(convex),
        "best": best,
        "uniform": _uniform(truth, prior),
        "uniform_gap": _uniform(truth, prior) - floor,
        "proof_gap": proof - floor,
        "convex_gap": problem.divergence(convex) - floor,
        "constant": bound.constant if finite else None,
        "bound": bound.by_norm if finite else None,
        "bound_as_printed": bound.by_norm / math.sqrt(2) if finite else None,
        "bound_by_ranges": bound.by_ranges if finite else None,
        "bound_by_ranges_as_printed": bound.epsilon * bound.constant * largest if finite else None,
    }


def one_sum_numbers(cell: OneSumOfMany, seed: int) -> Numbers:
    """Inequality (19): the unlikely context's logits come out as `likely` times the vector that they should be."""
    likely = cell.likely
    features = torch.cat([torch.eye(likely), torch.ones(1, likely)]).double()
    encoder = Encoder(torch.tensor([[0.5], [-0.5]], dtype=torch.float64), torch.ones(likely + 1, 1).double())
    truth = encoder.logits.softmax(1)
    truth[-1] = torch.tensor([0.001, 0.999], dtype=torch.float64)
    prior = torch.full((likely + 1,), (1 - cell.epsilon) / likely, dtype=torch.float64)
    prior[-1] = cell.epsilon
    problem = OutputProblem(features, encoder, truth, prior)
    bound = paper_bound(problem)
    return {
        "proof_gap": problem.divergence(paper_output(problem)) - expected_divergence(truth, prior, encoder.logits),
        "bound_by_ranges": bound.by_ranges,
        "bound_of_any_features": bound.epsilon * bound.constant,
        "bound": bound.by_norm,
    }


def sharpened_numbers(cell: SharpenedTable, seed: int) -> Numbers:
    """A look-up table by encoders whose divergence is eps, in a layer that is exact on 1 - eps of the prior."""
    draw = np.random.default_rng(seed)
    keys = draw.choice(cell.vocab**2, cell.contexts, replace=False)
    answers = draw.integers(cell.vocab, size=cell.contexts)
    truth = np.zeros((cell.contexts, cell.vocab))
    truth[np.arange(cell.contexts), answers] = 1
    prior = 1 / np.arange(1, cell.contexts + 1)
    task = DistributionTask.from_dense(np.stack(np.divmod(keys, cell.vocab), 1), truth, prior)
    encoder, _ = circle_encoder(answers, cell.vocab, cell.epsilon)
    problem = _problem(task, encoder, 2, cell.head_dim, cell.epsilon, seed)
    bound = paper_bound(problem)
    return {
        "epsilon": bound.epsilon,
        "proof": problem.divergence(paper_output(problem)),
        "convex": problem.divergence(convex_output(problem)),
        "encoder": expected_divergence(problem.truth, problem.prior, encoder.logits),
        "constant": bound.constant,
        "epsilon_log": cell.epsilon * math.log(1 / cell.epsilon),
        "uniform": _uniform(problem.truth, problem.prior),
    }


def rank_numbers(cell: AttentionRank, seed: int) -> Numbers:
    """Singular values of x_S and all W_V A above rounding, on contexts that are drawn from all."""
    # A specification has no head wider than its stream: wider ones are made of these below.
    spec = AttentionOnly(
        vocab=cell.vocab, context=cell.context, dim=cell.dim, head_dim=min(cell.head_dim, cell.dim), heads=cell.heads
    )
    guaranteed = cell.heads * cell.head_dim + cell.dim
    contexts = min(guaranteed + MORE, cell.vocab**cell.context)
    draw = np.random.default_rng(seed)
    keys = draw.permutation(cell.vocab**cell.context)[:contexts]
    table = np.stack(np.unravel_index(keys, (cell.vocab,) * cell.context), 1)
    generator = torch.Generator().manual_seed(seed)
    features = attention_features(spec, cell.head_dim, table, generator)
    numbers: Numbers = {
        "rank": numerical_rank(features),
        "guaranteed": min(guaranteed, contexts),
        "corrected": min(rank_of(spec), contexts),
    }
    if cell.head_dim == cell.dim:  # then W_V is invertible, and features beyond x_S have the rank of A
        printed = min(contexts, cell.heads * cell.dim)
        numbers |= {"rank_before_output": numerical_rank(features[:, cell.dim :]), "printed": printed}
    return numbers


def numerical_rank(features: Tensor) -> int:
    sizes = torch.linalg.svdvals(features)
    return int((sizes > RANK_CUT * sizes[0]).sum())


def stored_numbers(cell: StoredFacts, seed: int) -> Numbers:
    """Facts recalled of those that are stored, and of all; the best of the draws."""
    p = cell.heads * cell.head_dim + cell.dim
    total = cell.facts or p
    draw = np.random.default_rng(seed)
    keys = draw.choice(cell.vocab**cell.context, total, replace=False)
    table = np.stack(np.unravel_index(keys, (cell.vocab,) * cell.context), 1)
    whole = AssociationTask(table, draw.integers(cell.vocab, size=total), Vocabulary.numbered(cell.vocab))
    method = "dana2025.corollary1" if cell.dim == 2 else "dana2025.theorem1"
    accuracies, recalled, parameters = [], 0, 0
    for number in range(cell.draws):
        built = build(
            whole.take(slice(0, p)), method, dim=cell.dim, head_dim=cell.head_dim, heads=cell.heads, dtype="float64",
            seed=1000 * seed + number, rank_one=cell.rank_one,
        )  # fmt: skip
        recalled, parameters = built.certificate.recalled, built.model.spec.parameters()
        accuracies.append(recall(built.model, whole).recalled / total)
    per_head = 2 * (cell.head_dim + 1) if cell.rank_one else 4 * cell.head_dim
    return {
        "guaranteed": p,
        "recalled": recalled,
        "parameters": parameters,
        "parameters_stated": cell.dim * (cell.context + 2 * cell.vocab + per_head * cell.heads),
        "accuracy": max(accuracies),
        "accuracy_mean": float(np.mean(accuracies)),
        "phi": phi(p, total, cell.vocab),
    }


def _problem(
    task: DistributionTask, encoder: Encoder, dim: int, head_dim: int, epsilon: float, seed: int
) -> OutputProblem:
    """Random attention with the fewest heads for the likeliest contexts, waiting for W_O."""
    shape = task.shape.model_copy(update={"associations": covering(task.prior, epsilon)})
    spec = theorem1_spec(shape, dim, head_dim)
    scores = ScoreSize().plain(spec.heads)
    drawn = Drawn.draw(task, spec, torch.float64, scores, torch.Generator().manual_seed(seed))
    return OutputProblem(drawn.features, encoder, *truth_and_prior(task))


def attention_features(spec: AttentionOnly, head_dim: int, contexts: np.ndarray, generator: torch.Generator) -> Tensor:
    """x_S and every head's W_V A beside it, in all k dimensions of a head, however many of them can differ."""
    embeddings = draw_embeddings(spec, torch.float64, generator)
    differences = Differences(embeddings, torch.from_numpy(contexts).long())
    heads = draw_heads(spec.heads, spec, RANK_SCORES, torch.float64, generator)
    centred = torch.empty(len(contexts), spec.heads * spec.head_dim, dtype=torch.float64)
    differences.features(heads, spec.head_dim, centred)
    last = differences.last()
    outputs = (centred + last @ heads.value.flatten(0, 1).T).unflatten(1, (spec.heads, spec.head_dim))
    if head_dim > spec.head_dim:
        wider = torch.randn(spec.heads, spec.head_dim, head_dim, generator=generator, dtype=torch.float64)
        outputs = torch.einsum("thk,hkw->thw", outputs, wider)
    return torch.cat([last, outputs.flatten(1)], 1)


def _uniform(truth: Tensor, prior: Tensor) -> float:
    return expected_divergence(truth, prior, torch.zeros_like(truth))
