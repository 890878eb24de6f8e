"""Parameters that change nothing: the same logits without them, and exactly as many fixed numbers as are left out."""

import numpy as np
import pytest
import torch

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.models.redundancy import free_parameters, without_redundancy


@pytest.mark.parametrize("rank", [None, 1])
def test_the_same_differences_of_logits_without_redundant_parameters(rank):
    spec = AttentionOnly(vocab=9, context=3, dim=5, head_dim=2, heads=4, query_key_rank=rank, scale_scores=True)
    generator = torch.Generator().manual_seed(1)
    weights = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in spec.shapes().items()
    }
    model = Model(spec, weights, None)
    reduced = without_redundancy(model)
    contexts = np.random.default_rng(0).integers(0, 9, (40, 3)).astype(np.int32)
    before, after = model.logits(contexts), reduced.logits(contexts)
    assert torch.allclose(before - before[:, :1], after - after[:, :1], atol=1e-8)
    again = without_redundancy(reduced)
    constant = sum(
        int(((tensor == again.weights[name]) & ((tensor == 0) | (tensor == 1))).sum())
        for name, tensor in reduced.weights.items()
    )
    assert constant == spec.parameters() - free_parameters(spec)


def test_more_layers_are_not_counted():
    with pytest.raises(InputError, match="one layer"):
        free_parameters(AttentionOnly(vocab=9, context=3, dim=5, head_dim=2, heads=4, layers=2))
