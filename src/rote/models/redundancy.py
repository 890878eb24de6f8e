"""Parameters of an attention-only Transformer that change nothing, and the same model without them.

One layer is the same function of its tokens after each of these changes, so that as many numbers need not be stored:

- any invertible matrix between query and key of a head (r^2 numbers) and between value and output (k^2);
- any basis of the residual stream (d^2);
- one vector added to all tokens and taken from all positions (d);
- one vector added to all rows of the unembedding, which moves all logits alike (d).

`without_redundancy` removes this freedom: the first columns of every query and value become the identity, and so do the
embeddings of the first d tokens; the first position and the first row of the unembedding become zero.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.models.spec import Spec


def free_parameters(spec: AttentionOnly) -> int:
    """Numbers that determine the model: its parameters without those that `without_redundancy` fixes.

    >>> spec = AttentionOnly(vocab=80, context=2, dim=13, head_dim=2, heads=105)
    >>> spec.parameters(), free_parameters(spec)
    (13026, 11991)
    """
    spec = _check(spec)
    return spec.parameters() - spec.heads * (spec.rank**2 + spec.head_dim**2) - spec.dim**2 - 2 * spec.dim


def without_redundancy(model: Model) -> Model:
    """The same model (all differences of logits) in which only `free_parameters` numbers are not fixed.

    It is computed in float64. The blocks that become the identity must be invertible, and how well conditioned they are
    decides what rounding to the model's dtype costs: measure the model again.
    """
    spec = _check(model.spec)
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
        "tokens": _identity(tokens @ basis),
        "positions": positions @ basis,
        "query": _identity(_inverse(first_query, "queries") @ query),
        "key": first_query.transpose(1, 2) @ key,
        "value": _identity(_inverse(first_value, "values") @ value),
        "output": output @ first_value,
        "unembed": unembed @ back.T,
    }
    dtype = model.weights[names["tokens"]].dtype
    return Model(
        spec, {names[short]: tensor.to(dtype) for short, tensor in made.items()}, model.vocabulary, model.reader
    )


def _check(spec: Spec) -> AttentionOnly:
    if not isinstance(spec, AttentionOnly) or spec.layers > 1 or spec.compressed or spec.positions != "stream":
        raise InputError(
            "redundant parameters are counted for one layer of attention without a shared compression, "
            "with positions in the stream"
        )
    if spec.vocab < spec.dim:
        raise InputError(f"`dim={spec.dim}`: a basis needs as many tokens, but the vocabulary has {spec.vocab}")
    return spec


def _inverse(block: Tensor, what: str) -> Tensor:
    inverse, wrong = torch.linalg.inv_ex(block)
    if bool(wrong.any()):
        raise InputError(f"{what} are not independent, so that they cannot become the identity")
    return inverse


def _identity(tensor: Tensor) -> Tensor:
    """The tensor with its first block, which is the identity but for rounding, exactly so."""
    size = min(tensor.shape[-2:])
    tensor[..., :size, :size] = torch.eye(size, dtype=tensor.dtype)
    return tensor
