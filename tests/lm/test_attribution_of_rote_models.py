"""The inspector of language models on rote's own models, against `rote.inspect` and interventions written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import rote
from rote.errors import InputError
from rote.lm.attribution.kinds import KINDS, PLACES
from rote.measure.recall import margins

FACTS = {("colour", name): f"c{place % 3}" for place, name in enumerate("abcdef")} | {
    ("size", name): f"s{place % 4}" for place, name in enumerate("abcdef")
}
SPECS = {
    "one layer": rote.AttentionOnly(vocab=15, context=2, dim=8, head_dim=4, heads=3),
    "positions in every layer": rote.AttentionOnly(
        vocab=15, context=2, dim=8, head_dim=4, heads=2, layers=3, positions="every-layer"
    ),
    "shared compression": rote.AttentionOnly(
        vocab=15, context=2, dim=8, head_dim=4, heads=3, layers=2, variant="shared"
    ),
    "MLPs": rote.MlpTransformer(vocab=15, context=2, dim=8, head_dim=4, heads=2, width=6, layers=2),
}  # fmt: skip


def drawn(spec):
    chance = torch.Generator().manual_seed(0)
    weights = {
        name: 0.7 * torch.randn(shape, generator=chance, dtype=torch.float64) for name, shape in spec.shapes().items()
    }
    task = rote.facts(FACTS)
    return rote.Model(spec, weights, task.vocabulary).with_reader(task), task


@pytest.fixture(scope="module", params=list(SPECS))
def case(request):
    model, task = drawn(SPECS[request.param])
    return model, task, rote.attribution(model, task)


def test_logits_attribution_and_attention_are_those_of_inspect(case):
    model, task, found = case
    assert np.abs(found.rounding).max() < 1e-10
    for number in (0, 7):
        seen = rote.inspect(model, task[number])
        assert found.facts[number].margin == pytest.approx(seen.margin, abs=1e-10)
        parts = [part for part in seen.contributions if part.part != "skip"]
        for part in parts:
            at = (number, part.layer, found.heads if part.head is None else part.head)
            assert found.direct[at] == pytest.approx(part.to_margin, abs=1e-10)
            assert found.effects["zero"][at] == pytest.approx(part.margin_without, abs=1e-10)


def test_mean_ablation_of_all_mlps_is_that_of_a_model_with_constant_mlps():
    """In one layer, replacing the MLP by its mean per position leaves embedding, heads and a constant."""
    spec = rote.MlpTransformer(vocab=15, context=2, dim=8, head_dim=4, heads=2, width=6)
    model, task = drawn(spec)
    found = rote.attribution(model, task)
    contexts, answers = torch.from_numpy(task.contexts).long(), torch.from_numpy(task.answers).long()
    silent = replace(model, weights={**model.weights, "layers.0.mlp_out": torch.zeros(8, 6, dtype=torch.float64)})
    added = model.logits(contexts) - silent.logits(contexts)
    left = margins(silent.logits(contexts) + added.mean(0), answers).numpy()
    assert found.effects["mean"][:, 0, -1] == pytest.approx(left, abs=1e-10)


def test_kinds_and_places():
    model, task = drawn(SPECS["MLPs"])
    answers = np.array([model.logits(torch.from_numpy(task.contexts).long()).argmax(1).numpy()])[0]
    words = task.vocabulary.tokens
    said = {tuple(task[row].key): words[answers[row]] for row in range(task.facts)}  # a table that the model recalls
    task = rote.facts(said)
    model = rote.Model(
        SPECS["MLPs"].model_copy(update={"vocab": len(task.vocabulary)}),
        {name: _chosen(tensor, words, task) if name in ("tokens", "unembed") else tensor
         for name, tensor in model.weights.items()},
        task.vocabulary,
    ).with_reader(task)  # fmt: skip
    found = rote.attribution(model, task)
    assert found.recalled.all()
    kinds = rote.locate(model, task, found).kinds[None]
    assert kinds.ablated.shape == (12, len(KINDS), len(PLACES), 1)
    # All MLPs at both places: as without them, but for their means, which the first test holds; patching everything of
    # one kind and ablating it at every place bound what a part of it does.
    lost = kinds.margins[:, None, None, None] - kinds.ablated
    assert np.abs(lost).max() > 0.01
    nothing_before = kinds.at("MLPs", "after")[0]
    assert not np.allclose(nothing_before, kinds.at("MLPs", "both")[0])
    summary = rote.locate(model, task, found, order="specific").summary()
    assert {line["kind"] for line in summary["kinds"]} == set(KINDS)


def _chosen(tensor, words, task):
    return tensor[[words.index(word) for word in task.vocabulary.tokens]]


def test_a_table_with_relations_has_means_per_relation(tmp_path):
    table = tmp_path / "facts.csv"
    table.write_text("relation,subject,answer\n" + "".join(f"{k[0]},{k[1]},{v}\n" for k, v in FACTS.items()))
    made = rote.build(str(table), "dana2025.theorem1")
    found = rote.attribution(made.model, str(table), relation="size", key=["size", "b"])
    assert [fact.key for fact in found.facts] == [("size", "b")]
    assert found.facts[0].recalled
    assert len(rote.attribution(made.model, str(table), known=True, most=2, effects=()).facts) == 4
    with pytest.raises(InputError, match="recalls every one of these facts"):
        rote.attribution(made.model, str(table), unknown=True)
    with pytest.raises(InputError, match="reads keys, not sentences"):
        rote.attribution(made.model, str(table), ["The size of {subject} is"])
    with pytest.raises(InputError, match="no fact is both"):
        rote.attribution(made.model, str(table), known=True, unknown=True)


def test_a_model_without_heads_is_rejected():
    made = rote.build(FACTS, "dana2025.proposition3")
    with pytest.raises(InputError, match="has no attention heads"):
        rote.attribution(made.model, FACTS)


def test_attribution_through_heads_against_a_second_layer_written_out():
    """Values of a later head are linear in what the earlier layer wrote, its attention frozen."""
    model, task = drawn(SPECS["MLPs"])
    found = rote.attribution(model, task, effects=())
    assert np.abs(found.through.rest).max() < 1e-10
    sums = found.through.own.sum((1, 2)) + found.through.sources.sum((1, 2))
    assert sums == pytest.approx(found.direct[:, :, :-1].sum((1, 2)), abs=1e-10)
    weights, row = model.weights, 5
    stream = weights["tokens"][torch.from_numpy(task.contexts[row]).long()] + weights["positions"]
    added = {}
    for layer in range(2):
        out = torch.zeros_like(stream)
        for head in range(2):
            query, key, value, output = (
                weights[f"layers.{layer}.{name}"][head] for name in ("query", "key", "value", "output")
            )
            scores = (stream @ query.T) @ (stream @ key.T).T
            looks = scores.masked_fill(torch.ones(2, 2).triu(1).bool(), -torch.inf).softmax(1)
            added[layer, head] = looks, output @ value
            out = out + looks @ stream @ (output @ value).T
        stream = stream + out
        hidden = torch.nn.functional.gelu(
            stream @ weights[f"layers.{layer}.mlp_in"].T + weights[f"layers.{layer}.mlp_bias"]
        )
        mlp = hidden @ weights[f"layers.{layer}.mlp_out"].T
        added[layer] = mlp
        stream = stream + mlp
    words = task.vocabulary.index
    fact = found.facts[row]
    along = weights["unembed"][words[fact.first_token]] - weights["unembed"][words[fact.runner_up]]
    read = sum(float(along @ matrix @ (looks[-1] @ added[0])) for looks, matrix in (added[1, 0], added[1, 1]))
    assert found.through.sources[row, 0, -1] == pytest.approx(read, abs=1e-10)
    assert found.effect("sources")[row, 0, -1] == pytest.approx(read + found.direct[row, 0, -1], abs=1e-10)
