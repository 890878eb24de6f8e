"""Studies of open questions: numbers that can be computed by hand, and figures that state conclusions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from rote.errors import InputError
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.statements.algorithm import Layer, algorithm_numbers, reactions, readout_recalls
from rote.experiments.statements.components import ATTENTION, MLP, _ablated, _relearned, flops_per_context, random_table
from rote.experiments.statements.depth import _spec, stacked_logits, stacked_weights, table_numbers
from rote.experiments.statements.findings import StatementFindings, StatementPoint, statement_findings
from rote.experiments.statements.real_texts import real_text_numbers, word_vectors
from rote.experiments.statements.schedule import StatementSchedule
from rote.experiments.statements.sparse import Facts, beyond, recalled, sparse_numbers
from rote.models.attention_only import AttentionOnly
from rote.models.forward import forward
from rote.models.mlp_transformer import MlpTransformer
from rote.models.query_attention import QueryAttention
from rote.papers.kinds.statement_settings import DeepQueries, DeepTable, LayerAlgorithm, RealTexts, SparseTable
from rote.papers.kinds.statements import HigherBeyondFirst
from rote.papers.open_questions import COMPONENTS, DEPTH, HELD_OUT, OPEN_QUESTIONS, SPARSE
from rote.tasks.sources.wordnet import find
from rote.training.initial import initial_weights, unflattened

LAYER = MlpTransformer(vocab=6, context=2, dim=4, head_dim=2, heads=2, width=5, scale_scores=True)


def found(study, numbers):
    """Findings of a study whose trials all have these numbers, or what a function makes of a series and x."""
    schedule = StatementSchedule.of(study)
    points = tuple(
        StatementPoint(cell.series, cell.x, trial.seed, numbers(cell) if callable(numbers) else numbers, 0.0)
        for cell, trial in schedule.trials()
    )
    return StatementFindings(schedule, points, 0)


def test_the_least_loss_spends_what_is_held_on_the_likeliest_facts():
    prior = np.array([0.5, 0.3, 0.2])
    assert [beyond(prior, held) for held in (0, 1, 1.5, 3)] == pytest.approx([1, 0.5, 0.35, 0])


def test_a_tie_is_a_miss():
    logits = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert recalled(logits, np.array([0, 0, 0])).tolist() == [True, False, False]


def test_the_sparse_regime_of_a_tiny_table():
    numbers = sparse_numbers(SparseTable(8, 40, 2, 2), 0)
    assert numbers["theorem_recalled_zipf"] >= 2 * 2 + 2
    assert numbers["trained_uniform"] < numbers["readout_uniform"] <= 1
    assert numbers["held"] == pytest.approx(40 * (1 - numbers["trained_uniform"]))
    assert numbers["optimal_zipf"] == pytest.approx(beyond(Facts.random(8, 40, 0).priors["zipf"], numbers["held"]))


def test_ablations_are_the_models_without_the_component():
    weights = unflattened(LAYER, initial_weights(LAYER, 0))
    contexts = torch.tensor([[0, 1], [2, 3], [4, 5], [1, 1]])
    ablated = _ablated(LAYER, weights, contexts)
    attention = {name: tensor for name, tensor in weights.items() if "mlp" not in name}
    torch.testing.assert_close(ablated["no_mlp"], forward(LAYER.attention, attention, contexts))
    same = contexts[:1].expand(3, -1)
    whole = forward(LAYER, weights, same)
    for name in ("mean_attention", "mean_pattern", "mean_mlp"):
        torch.testing.assert_close(_ablated(LAYER, weights, same)[name], whole)
        assert not torch.allclose(ablated[name], forward(LAYER, weights, contexts))


def test_only_the_named_parts_are_retrained():
    task = random_table(6, 20, 0)
    weights = unflattened(LAYER, initial_weights(LAYER, 0))
    before = float(recalled(forward(LAYER, weights, torch.from_numpy(task.contexts).long()), task.answers).mean())
    assert _relearned(LAYER, weights, task, (), 2e-2) == before
    assert _relearned(LAYER, weights, task, (*ATTENTION, *MLP), 2e-2) > before


HEADS = AttentionOnly(vocab=6, context=2, dim=4, head_dim=3, heads=2, scale_scores=True)


def test_the_parts_of_a_layer_add_up_to_its_stream():
    weights = unflattened(HEADS, initial_weights(HEADS, 0))
    contexts = torch.tensor([[0, 1], [2, 3], [4, 5], [1, 1]])
    layer = Layer.of(HEADS, weights, contexts)
    logits = (layer.direct + layer.added.sum(1)) @ weights["unembed"].T
    torch.testing.assert_close(logits, forward(HEADS, weights, contexts))
    assert layer.features.shape == (4, 4 + 2 * 3)
    torch.testing.assert_close(layer.patterns.sum(-1), torch.ones(4, 2))


def test_saturated_patterns_lose_nothing_when_they_are_made_hard():
    weights = unflattened(HEADS, initial_weights(HEADS, 0))
    contexts = torch.cartesian_prod(torch.arange(6), torch.arange(6))
    saturated = {**weights, "layers.0.query": 1e6 * weights["layers.0.query"]}
    for given, share in ((weights, 0.0), (saturated, 1.0)):
        answers = forward(HEADS, given, contexts).argmax(1).numpy()
        numbers = reactions(HEADS, given, contexts, answers)
        # A token beside itself is attended to by halves, but for positions.
        assert numbers["saturated"] == pytest.approx(share, abs=0.1)
        assert (numbers["hard"] > 0.95) == (share == 1)


def test_a_readout_recalls_what_its_features_tell_apart():
    answers = np.array([0, 1, 2, 3, 4, 5])
    assert readout_recalls(torch.eye(6, dtype=torch.float64), answers, HEADS, 0) == 6
    assert readout_recalls(torch.ones(6, 2, dtype=torch.float64), answers, HEADS, 0) <= 1


def test_the_algorithm_of_a_tiny_layer():
    numbers = algorithm_numbers(LayerAlgorithm(8, 40, 2, 2), 0)
    assert numbers["rank"] <= 2 * 2 + 2
    assert numbers["own_readout"] > numbers["new_readout"]
    assert 0 < numbers["hard"] <= 1
    assert numbers["built_hard"] is not None


@pytest.fixture
def definitions():
    """WordNet, where this machine has it."""
    try:
        find()
    except InputError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("definitions")
def test_words_that_occur_together_have_like_vectors():
    vectors = word_vectors(16, 3)
    like = {
        pair: np.corrcoef(vectors[pair[0]], vectors[pair[1]])[0, 1] for pair in (("tree", "shrub"), ("tree", "musical"))
    }
    assert like["tree", "shrub"] > like["tree", "musical"] + 0.2


@pytest.mark.usefixtures("definitions")
def test_real_texts_are_memorized_beside_gaussian_vectors():
    numbers = real_text_numbers(RealTexts(1, 3, 16, 3, 2, 3), 0)
    assert numbers["examples"] == 2 * 2 + 1
    assert numbers["real_at_bound"] == numbers["real"] == 1
    assert 0 < numbers["distinct_queries"] <= 1
    assert real_text_numbers(RealTexts(2, 3, 16, 3, 2, 3), 0)["real_at_bound"] is None


def test_studies_are_reported_on_seeds_that_chose_nothing():
    repeated = {study for study in OPEN_QUESTIONS if study.first_seed == HELD_OUT}
    assert len(repeated) >= 2
    for study in repeated:
        assert {trial.seed for _, trial in StatementSchedule.of(study).trials()} == {100, 101}


def test_operations_of_a_forward_pass():
    # Two heads: query and output at the last of two positions, keys and values at both, scores and their mix.
    heads = 2 * (2 * 4 * 2 + 4 * 4 * 2 + 4 * 2)
    assert flops_per_context(LAYER) == 2 * (heads + 2 * 4 * 5 + 4 * 6)
    assert flops_per_context(LAYER.attention) == 2 * (heads + 4 * 6)


@pytest.mark.parametrize("mlp", [False, True])
def test_models_of_all_depths_have_the_same_size(mlp):
    sizes = [_spec(DeepTable(50, 2, 2500, 8, 12, layers, mlp)).parameters() for layers in (1, 2, 3, 4)]
    assert max(sizes) - min(sizes) <= 0.02 * sizes[0]


def test_one_stacked_layer_is_query_attention():
    cell = DeepQueries(context=3, facts=5, classes=4, dim=6, head_dim=2, heads=4, layers=1)
    spec = QueryAttention(context=3, dim=6, head_dim=2, heads=4, outputs=4, scale_scores=True)
    query, key, value, output, readout = stacked_weights(cell, 0)
    weights = {"query": query, "key": key, "value": value, "output": output, "readout": readout}
    context, queries = torch.randn(3, 6), torch.randn(5, 6)
    expected = forward(spec, weights, (context.expand(5, -1, -1), queries))
    torch.testing.assert_close(stacked_logits(list(weights.values()), context, queries), expected)
    assert sum(tensor.numel() for tensor in weights.values()) == spec.parameters()
    deeper = replace(cell, layers=2)
    assert sum(tensor.numel() for tensor in stacked_weights(deeper, 0)) == spec.parameters()


def test_bits_held_by_a_tiny_model(monkeypatch):
    from rote.experiments.statements import depth

    monkeypatch.setattr(depth, "TRAINING", depth.TRAINING.changed(steps=300))
    numbers = table_numbers(DeepTable(6, 2, 12, 4, 2, 1), 0)
    assert numbers["parameters"] == AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2).parameters()
    assert numbers["accuracy"] == 1
    assert numbers["bits_per_parameter"] == pytest.approx(12 * math.log2(6) / numbers["parameters"], rel=0.1)


def test_depth_is_judged_by_all_seeds():
    rule = HigherBeyondFirst("bits_per_parameter", "attention, S = 2")

    def judged(deeper):
        return found(DEPTH, lambda cell: {"bits_per_parameter": deeper if cell.x > 1 else 1.0}).decide(rule)

    assert judged(0.9).refuted
    assert judged(1.2).outcome not in (judged(0.9).outcome, "undecided")
    scattered = found(DEPTH, {"bits_per_parameter": 1.0})
    points = tuple(
        replace(point, numbers={"bits_per_parameter": 1.0 + 0.5 * (point.seed - DEPTH.first_seed) * (point.x > 1)})
        for point in scattered.evaluated
    )
    assert replace(scattered, evaluated=points).decide(rule).outcome == "undecided"


def test_the_title_is_the_conclusion_only_if_its_claims_are_supported():
    good = {"no_attention": 0.1, "no_mlp": 0.1, "attention_shortfall": 0.0, "mlp_shortfall": 0.0, "accuracy": 1.0}
    assert found(COMPONENTS, good).conclusion == COMPONENTS.headline.conclusion
    bad = found(COMPONENTS, {**good, "mlp_shortfall": 0.9})
    assert bad.conclusion == bad.title
    (chart,) = bad.charts().values()
    assert chart.title == bad.title


def test_a_study_has_a_panel_for_each_view_and_series():
    (chart,) = found(SPARSE, {"trained_zipf": 0.5, "kept_half": 0.7}).charts().values()
    assert [panel.y_label for panel in chart.panels] == [view.y for _ in range(2) for view in SPARSE.views]
    (together,) = found(DEPTH, {"bits_per_parameter": 1.0}).charts().values()
    assert [len(panel.series) for panel in together.panels] == [4]


@pytest.mark.parametrize("study", OPEN_QUESTIONS, ids=lambda study: study.id)
def test_every_headline_rests_on_claims_of_its_study(study):
    rests_on = {*study.headline.supported, *study.headline.refuted}
    assert rests_on
    assert rests_on <= {claim.id for claim in study.claims}
    assert study.trains
    assert study.repeats >= 2


def test_results_of_trials_are_arranged(tmp_path):
    schedule = StatementSchedule.of(COMPONENTS, quick=True)
    ((_, trial), *_) = schedule.trials()
    rows = {trial.key: TrialRow(trial.cell, trial.seed, {"numbers": {"accuracy": 1.0}}, 0.1, "")}
    assert statement_findings(schedule, rows).missing == len(schedule.trials()) - 1
