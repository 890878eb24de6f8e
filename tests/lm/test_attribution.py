"""Attribution of facts to heads and MLPs, against interventions written out and against TransformerLens."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import torch

import rote
from rote.errors import InputError
from rote.lm.attribution.components import LmComponent

TEMPLATE = "The capital of {country} is"
BEFORE = 3
"""Tokens that all prompts begin with."""


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def model(request):
    return rote.load_language_model(request.getfixturevalue(request.param), attentions=True)


@pytest.fixture
def found(model, capitals):
    return rote.attribution(model, str(capitals), [TEMPLATE])


def prompt_of(model, fact):
    (ids,) = model.encode([TEMPLATE.format(country=fact.key[0])])
    return torch.tensor([ids])


def answer_of(model, fact):
    return model.encode([fact.first_token])[0][0]


def layer_modules(model, layer):
    """Output projection and MLP of a layer, found without rote's own code."""
    if hasattr(model.module, "transformer"):
        block = model.module.transformer.h[layer]
        return block.attn.c_proj, block.mlp
    block = model.module.model.layers[layer]
    return block.self_attn.o_proj, block.mlp


@torch.inference_mode()
def logits_with(model, ids, component, new):
    """Run all tokens; from the subject on, `new` takes the place of the component's output."""
    projection, mlp = layer_modules(model, component.layer)

    def in_head(_, given):
        changed = given[0].clone()
        width = changed.shape[-1] // model.module.config.num_attention_heads
        changed[:, BEFORE:, component.head * width : (component.head + 1) * width] = new
        return (changed,)

    def in_mlp(_, __, out):
        changed = out.clone()
        changed[:, BEFORE:] = new
        return changed

    handle = (
        mlp.register_forward_hook(in_mlp) if component.head is None else projection.register_forward_pre_hook(in_head)
    )
    try:
        return model.module(ids, use_cache=False).logits[0, -1].double()
    finally:
        handle.remove()


@torch.inference_mode()
def outputs(model, ids, component):
    """What the component gave, for every token."""
    projection, mlp = layer_modules(model, component.layer)
    seen = []
    handle = (
        mlp.register_forward_hook(lambda _, __, out: seen.append(out.clone()))
        if component.head is None
        else projection.register_forward_pre_hook(lambda _, given: seen.append(given[0].clone()))
    )
    model.module(ids, use_cache=False)
    handle.remove()
    if component.head is None:
        return seen[0][:, BEFORE:]
    width = seen[0].shape[-1] // model.module.config.num_attention_heads
    return seen[0][:, BEFORE:, component.head * width : (component.head + 1) * width]


def place(found, number, component):
    return number, component.layer, found.heads if component.head is None else component.head


def margin(logits, token):
    others = logits.clone()
    others[token] = -torch.inf
    return float(logits[token] - others.max())


def test_contributions_sum_to_the_difference_of_logits(found):
    assert np.abs(found.rounding).max() < 1e-5
    assert np.abs(found.direct).max() > 0.05


def test_zero_ablation_is_that_of_a_full_run_with_the_output_set_to_zero(model, found):
    for number, fact in enumerate(found.facts):
        ids = prompt_of(model, fact)
        for component in found.components:
            left = margin(logits_with(model, ids, component, 0.0), answer_of(model, fact))
            assert found.effects["zero"][place(found, number, component)] == pytest.approx(left, abs=1e-4)


def test_mean_ablation_takes_the_mean_over_facts_at_the_same_word(model, found):
    prompts = [prompt_of(model, fact) for fact in found.facts]
    for component in found.components:
        mean = torch.cat([outputs(model, ids, component) for ids in prompts]).mean(0, keepdim=True)
        for number, fact in enumerate(found.facts):
            left = margin(logits_with(model, prompts[number], component, mean), answer_of(model, fact))
            assert found.effects["mean"][place(found, number, component)] == pytest.approx(left, abs=1e-4)


def test_patching_puts_the_clean_output_into_a_run_on_the_next_subject(model, found):
    for number, fact in enumerate(found.facts):
        other = found.facts[(number + 1) % len(found.facts)]
        tokens = [answer_of(model, fact), answer_of(model, other)]
        prompts = [prompt_of(model, fact), prompt_of(model, other)]
        clean, corrupted = (
            float((seen[tokens[0]] - seen[tokens[1]]).detach())
            for seen in (model.module(ids, use_cache=False).logits[0, -1] for ids in prompts)
        )
        for component in found.components:
            logits = logits_with(model, prompts[1], component, outputs(model, prompts[0], component))
            share = (float(logits[tokens[0]] - logits[tokens[1]]) - corrupted) / (clean - corrupted)
            assert found.effects["patch"][place(found, number, component)] == pytest.approx(share, abs=1e-3)


def test_attention_is_the_models_and_sums_to_one(model, found):
    ids = prompt_of(model, found.facts[0])
    with torch.inference_mode():
        weights = model.module(ids, output_attentions=True, use_cache=False).attentions
    subject = torch.stack([layer[0, :, -1, BEFORE] for layer in weights]).numpy()
    assert found.attention[0, :, :, 1] == pytest.approx(subject, abs=1e-5)
    assert found.attention.sum(-1) == pytest.approx(np.ones(found.attention.shape[:-1]), abs=1e-5)


def test_one_fact_is_as_among_all(model, found, capitals):
    alone = rote.attribution(model, str(capitals), [TEMPLATE], key=["Peru"])
    (number,) = (place for place, fact in enumerate(found.facts) if fact.key == ("Peru",))
    assert [fact.key for fact in alone.facts] == [("Peru",)]
    for name in ("direct", "zero", "mean"):
        assert alone.effect(name)[0] == pytest.approx(found.effect(name)[number], abs=1e-4)
    assert np.isfinite(alone.effect("patch")).all()


def test_size_of_batches_changes_nothing_but_the_partner(model, found, capitals):
    apart = rote.attribution(model, str(capitals), [TEMPLATE], batch=2, effects=("zero", "mean"))
    for name in ("direct", "zero", "mean"):
        assert apart.effect(name) == pytest.approx(found.effect(name), abs=1e-4)


def hooks(model):
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.module.modules())


def test_the_model_is_left_as_it_was(model, capitals):
    ids = torch.tensor([model.encode(["The capital of Peru is"])[0]])
    before, kept = model.module(ids).logits, hooks(model)
    rote.attribution(model, str(capitals), [TEMPLATE])
    assert torch.equal(before, model.module(ids).logits)
    assert hooks(model) == kept


def test_agrees_with_transformerlens(gpt2, tmp_path):
    pytest.importorskip("transformer_lens")
    from tiny import WORDS
    from transformer_lens.model_bridge import TransformerBridge

    table = tmp_path / "ten.csv"
    subjects = ["France", "Italy", "Peru", "Norway", "America", "dark", "light", "red", "green", "blue"]
    table.write_text("country,capital\n" + "".join(f"{name},{WORDS[20 - n]}\n" for n, name in enumerate(subjects)))
    model = rote.load_language_model(gpt2, attentions=True)
    found = rote.attribution(model, str(table), [TEMPLATE], effects=("zero",))
    bridge = TransformerBridge.boot_transformers(str(gpt2), tokenizer=model.tokenizer)
    norm, unembedding = model.module.transformer.ln_f, model.module.lm_head.weight
    for number, fact in enumerate(found.facts):
        ids = prompt_of(model, fact)
        right = answer_of(model, fact)
        with torch.inference_mode():
            logits, cache = bridge.run_with_cache(ids)
            other = int(logits[0, -1].index_fill(0, torch.tensor([right]), -torch.inf).argmax())
            stream = cache["blocks.0.hook_resid_post"][0, -1]
            scale = (stream.var(correction=0) + norm.eps).sqrt()
            along = (unembedding[right] - unembedding[other]) * norm.weight
            for component in found.components:
                at = place(found, number, component)
                if component.head is None:
                    added, name = cache["blocks.0.hook_mlp_out"][0, -1], "blocks.0.hook_mlp_out"
                else:
                    width = 16 // found.heads
                    rows = slice(component.head * width, (component.head + 1) * width)
                    z = cache["blocks.0.attn.hook_z"][0, -1].reshape(found.heads, width)[component.head]
                    added = z @ model.module.transformer.h[0].attn.c_proj.weight[rows]
                    name = "blocks.0.attn.hook_z"
                assert found.direct[at] == pytest.approx(float((added - added.mean()) @ along / scale), abs=1e-5)

                def zeroed(value, hook, component=component):
                    value = value.clone()
                    if component.head is None:
                        value[:, BEFORE:] = 0
                    else:
                        value.view(*value.shape[:2], found.heads, -1)[:, BEFORE:, component.head] = 0
                    return value

                ablated = bridge.run_with_hooks(ids, fwd_hooks=[(name, zeroed)])
                assert found.effects["zero"][at] == pytest.approx(margin(ablated[0, -1].double(), right), abs=1e-5)


def test_csv_has_a_line_per_fact_and_component(found, tmp_path):
    found.write_csv(tmp_path / "effects.csv")
    rows = list(csv.DictReader((tmp_path / "effects.csv").read_text().splitlines()))
    assert len(rows) == len(found.facts) * len(found.components)
    assert float(rows[0]["direct"]) == pytest.approx(found.direct[0, 0, 0], abs=1e-5)
    assert {row["component"] for row in rows} == {str(component) for component in found.components}


def test_means_are_of_recalled_facts_only(found):
    chart = found.heat_map("direct", known=False)
    assert np.array(chart.values) == pytest.approx(found.direct.mean(0))
    if not found.recalled.any():
        with pytest.raises(InputError, match="recalls none of these 5 facts"):
            found.heat_map("direct")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": ["Atlantis"]}, "no such key"),
        ({"relation": "currency"}, "no fact has 'currency'"),
        ({"templates": ["The capital of {land} is"]}, "no key column 'land'"),
        ({"batch": 0}, "give at least 1"),
    ],
)
def test_bad_arguments(model, capitals, change, message):
    with pytest.raises(InputError, match=message):
        rote.attribution(model, str(capitals), **{"templates": [TEMPLATE], **change})


def test_models_without_attention_are_refused(mamba, bert, capitals):
    for folder, message in ((mamba, "inspect reads Llama-type models"), (bert, "is an encoder")):
        with pytest.raises(InputError, match=message):
            rote.attribution(rote.load_language_model(folder), str(capitals), [TEMPLATE])


def test_components_have_names():
    assert [str(LmComponent(2, 3)), str(LmComponent(2, None))] == ["head 2.3", "mlp 2"]


def test_what_heads_read_sums_to_what_they_add(model, capitals):
    """A template that begins with the subject has no words before it, and these models' biases are zero."""
    found = rote.attribution(model, str(capitals), ["{country} is called"], effects=())
    heads = found.direct[:, :, :-1].sum((1, 2))
    assert found.through.own.sum((1, 2)) + found.through.sources.sum((1, 2)) == pytest.approx(heads, abs=1e-5)
    assert np.abs(found.through.own).max() > 0.01
    before = rote.attribution(model, str(capitals), [TEMPLATE], effects=())
    assert np.abs(before.through.rest).max() > 0.01  # heads also read "The capital of"
