"""Parameters that change nothing: the same logits without them, stored in fewer numbers, and back."""

import numpy as np
import pytest
import torch

import rote
from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.models.redundancy import with_redundancy, without_redundancy

CONTEXTS = np.random.default_rng(0).integers(0, 9, (40, 3)).astype(np.int32)


def random_model(rank=None, vocabulary=None):
    spec = AttentionOnly(vocab=9, context=3, dim=5, head_dim=2, heads=4, query_key_rank=rank, scale_scores=True)
    generator = torch.Generator().manual_seed(1)
    weights = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in spec.shapes().items()
    }
    return Model(spec, weights, vocabulary)


def differences(model):
    logits = model.logits(CONTEXTS)
    return logits - logits[:, :1]


@pytest.mark.parametrize("rank", [None, 1])
def test_the_same_differences_of_logits_in_fewer_stored_numbers(rank):
    model = random_model(rank)
    reduced = without_redundancy(model)
    assert torch.allclose(differences(model), differences(reduced), atol=1e-8)
    assert reduced.parameters == model.parameters - 4 * ((rank or 2) ** 2 + 2**2) - 5**2 - 2 * 5


def test_no_number_of_a_reduced_model_is_redundant():
    """The rank of the derivative of all logits' differences is the number of stored numbers."""
    reduced = without_redundancy(random_model())
    module = reduced.to_torch()
    every = torch.cartesian_prod(*[torch.arange(9)] * 3)
    parameters = tuple(module.parameters())

    def run(*tensors):
        named = dict(zip((name for name, _ in module.named_parameters()), tensors, strict=True))
        logits = torch.func.functional_call(module, named, (every,))
        return (logits - logits[:, :1])[:, 1:].flatten()

    slopes = torch.func.jacfwd(run, argnums=tuple(range(len(parameters))))(*parameters)
    matrix = torch.cat([slope.reshape(len(every) * 8, -1) for slope in slopes], 1)
    assert matrix.shape[1] == reduced.parameters
    matrix = matrix / matrix.norm(dim=0)
    assert int(torch.linalg.matrix_rank(matrix.T @ matrix, rtol=1e-14)) == reduced.parameters


def test_a_saved_reduced_model_recalls_as_before(tmp_path):
    spec = AttentionOnly(vocab=12, context=2, dim=6, head_dim=2, heads=9, scale_scores=True)
    facts = rote.facts("random:vocab=12,context=2,facts=60,seed=3")
    trained = rote.train(facts, spec, protocol="fast", seeds=[0])[0]
    reduced = without_redundancy(trained.model)
    rote.write_folder(tmp_path / "reduced", reduced, facts.origin, {"method": "reduced"}, None)
    loaded = rote.load(tmp_path / "reduced").model
    assert loaded.spec.architecture == "reduced-attention"
    assert loaded.parameters == spec.parameters() - 9 * 8 - 36 - 12
    assert rote.recall(loaded, facts).recalled == rote.recall(trained.model, facts).recalled
    full = with_redundancy(loaded)
    assert full.spec == spec
    assert torch.equal(full.logits(facts.contexts), loaded.logits(facts.contexts))


def test_what_cannot_be_reduced_is_said():
    deep = AttentionOnly(vocab=9, context=3, dim=5, head_dim=2, heads=4, layers=2)
    with pytest.raises(InputError, match="one layer"):
        without_redundancy(Model(deep, {name: torch.zeros(shape) for name, shape in deep.shapes().items()}))
    flat = AttentionOnly(vocab=9, context=3, dim=5, head_dim=2, heads=4)
    with pytest.raises(InputError, match="embeddings of the first tokens are not independent"):
        without_redundancy(Model(flat, {name: torch.zeros(shape) for name, shape in flat.shapes().items()}))
    with pytest.raises(InputError, match="no fixed numbers"):
        with_redundancy(random_model())
