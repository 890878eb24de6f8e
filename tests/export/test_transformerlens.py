"""In TransformerLens patterns and activations are the model's; ablating a head by a hook is ablating its weights."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from exported_models import known_by_definition, need

from rote.export import export_model
from rote.export.common.normal_form import normal_form
from rote.models import AttentionOnly, MlpTransformer

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    "spec",
    [
        AttentionOnly(vocab=8, context=3, dim=6, head_dim=3, heads=4, layers=2),
        MlpTransformer(vocab=8, context=3, dim=6, head_dim=3, heads=4, width=5),
    ],
    ids=["two layers", "mlp"],
)
def test_patterns_and_ablations_are_the_models(spec, tmp_path):
    need("transformerlens")
    from rote.export.targets.transformerlens import load_bridge

    model, task = known_by_definition(spec)
    export_model(model, "transformerlens", tmp_path / "lens", task)
    bridge = load_bridge(tmp_path / "lens")
    contexts = torch.from_numpy(task.contexts).long()
    with torch.no_grad():
        logits, cache = bridge.run_with_cache(contexts)
    torch.testing.assert_close(logits[:, -1], model.logits(contexts), rtol=1e-4, atol=1e-4)
    for layer, pattern in enumerate(normal_form(model).run(contexts).patterns):
        seen = cache[f"blocks.{layer}.attn.hook_pattern"].double()
        torch.testing.assert_close(seen, pattern, rtol=1e-4, atol=1e-5)

    def without_head(z: torch.Tensor, hook: object) -> torch.Tensor:
        z = z.clone()
        z.view(*z.shape[:2], spec.heads, -1)[:, :, 2] = 0
        return z

    with torch.no_grad():
        hooked = bridge.run_with_hooks(contexts, fwd_hooks=[("blocks.0.attn.hook_z", without_head)])[:, -1]
    output = model.weights["layers.0.output"].clone()
    output[2] = 0
    ablated = replace(model, weights={**model.weights, "layers.0.output": output}).logits(contexts)
    torch.testing.assert_close(hooked, ablated, rtol=1e-4, atol=1e-4)
    assert (ablated - model.logits(contexts)).abs().max() > 0.05
