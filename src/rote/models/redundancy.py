"""An attention-only model without its redundant parameters, and back: see `rote.models.reduced_attention`."""

from __future__ import annotations

import torch
from torch import Tensor

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.models.forward.reduced_attention import filled_in
from rote.models.model import Model
from rote.models.reduced_attention import ReducedAttention
from rote.models.spec import Spec


def without_redundancy(model: Model) -> Model:
    """The same model (all differences of logits) that stores only the numbers that matter.

    It is computed in float64. The blocks that become the identity must be invertible, and how well conditioned they are
    decides what rounding to the model's dtype costs: measure the model again.

    >>> import rote
    >>> spec = rote.AttentionOnly(vocab=50, context=2, dim=10, head_dim=2, heads=20)
    >>> model = rote.train("random:vocab=50,context=2,seed=0", spec, protocol="fast")[0].model
    >>> reduced = without_redundancy(model)
    >>> model.parameters, reduced.parameters
    (2620, 2340)
    """
    spec = _reducible(model.spec)
    reduced = ReducedAttention.of(spec)
    names = {name.rpartition(".")[2]: name for name in spec.shapes()}
    weights = {short: model.weights[name].double() for short, name in names.items()}
    shift = weights["positions"][0].clone()
    tokens, positions = weights["tokens"] + shift, weights["positions"] - shift
    unembed = weights["unembed"] - weights["unembed"][0]
    basis = _inverse(tokens[: spec.dim], "embeddings of the first tokens")
    back = tokens[: spec.dim].clone()
    query, key, value = (weights[name] @ back.T for name in ("query", "key", "value"))
    output = basis.T @ weights["output"]
    first_query, first_value = query[:, :, : spec.rank].clone(), value[:, :, : spec.head_dim].clone()
    made = {
        "tokens": (tokens @ basis)[spec.dim :],
        "positions": (positions @ basis)[1:],
        "query": (_inverse(first_query, "queries") @ query)[:, :, spec.rank :],
        "key": first_query.transpose(1, 2) @ key,
        "value": (_inverse(first_value, "values") @ value)[:, :, spec.head_dim :],
        "output": output @ first_value,
        "unembed": (unembed @ back.T)[1:],
    }
    dtype = model.weights[names["tokens"]].dtype
    stored = {names[short]: tensor.to(dtype).contiguous() for short, tensor in made.items()}
    return Model(reduced, stored, model.vocabulary, model.reader)


def with_redundancy(model: Model) -> Model:
    """A reduced model as an attention-only one, which every command takes: the fixed numbers are stored as well."""
    if not isinstance(model.spec, ReducedAttention):
        raise InputError(
            f"a {model.spec.architecture} model has no fixed numbers to fill in; give a reduced-attention one"
        )
    stored = {name: tensor.contiguous() for name, tensor in filled_in(model.spec, model.weights).items()}
    return Model(model.spec.full, stored, model.vocabulary, model.reader)


def _reducible(spec: Spec) -> AttentionOnly:
    if not isinstance(spec, AttentionOnly) or spec.layers > 1 or spec.compressed or spec.positions != "stream":
        raise InputError(
            "redundant parameters are dropped from one layer of attention without a shared compression, "
            "with positions in the stream"
        )
    return spec


def _inverse(block: Tensor, what: str) -> Tensor:
    inverse, wrong = torch.linalg.inv_ex(block)
    if bool(wrong.any()):
        raise InputError(f"{what} are not independent, so that they cannot become the identity")
    return inverse
