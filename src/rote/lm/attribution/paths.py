"""Attribution through heads: what a head adds to an answer, given back to the components whose outputs it reads.

A head adds sum_p a_p W_O W_V norm(x_p), and the residual stream x_p is the sum of the embedding and of what earlier
components added at p. With the attention a_p and the scales of the norms frozen that is linear. A head's direct logit
attribution then splits into parts of the embedding, of earlier heads and of earlier MLPs. A head that only copies what
an MLP wrote gives all of it back to that MLP; a head that maps the subject's embedding to the answer keeps its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from rote.lm.attribution.components import Components, Recording
from rote.lm.attribution.norms import through_norm


@dataclass(frozen=True, eq=False)
class ThroughHeads:
    """Arrays with one row per fact; components are a layer's heads, then its MLP."""

    sources: np.ndarray
    """What later heads read from each component, in logits of the answer minus the runner-up (facts x layers x
    components)."""
    own: np.ndarray
    """What each head makes of the embeddings: the part of its attribution that no earlier component wrote (facts x
    layers x heads)."""
    rest: np.ndarray
    """What heads read from words before the subject, and biases."""


def through_heads(
    parts: Components,
    seen: Recording,
    read: Float[Tensor, "rows dim"],
    heads_direct: Float[Tensor, "rows layers heads"],
) -> ThroughHeads | None:
    """Split the direct attribution of all heads by what they read; None where the model's values are not known."""
    rows, layers = len(read), len(parts.layers)
    if len(seen.attention) != layers or any(parts.value(layer) is None for layer in range(layers)):
        return None
    sources = torch.zeros(rows, layers, parts.heads + 1, dtype=torch.float64, device=read.device)
    own = torch.zeros(rows, layers, parts.heads, dtype=torch.float64, device=read.device)
    found = torch.zeros(rows, dtype=torch.float64, device=read.device)
    embedded = seen.inputs[0].double()
    positions = embedded.shape[1]
    for layer in range(layers):
        value = parts.value(layer)
        if value is None:
            continue
        back = torch.einsum("hkd,rd->rhk", parts.outward(layer).double(), read)
        back = torch.einsum("rhk,hkd->rhd", back, value.double())
        looks = seen.attention[layer][:, :, -1, -positions:].double()
        stream = seen.inputs[layer].double()
        for constant in parts.stream_constants(layer):
            stream = stream + constant.double()
        per_head = torch.stack(
            [
                through_norm(parts.input_norm(layer), stream[:, at], back)[0] * looks[:, :, at, None]
                for at in range(positions)
            ],
            2,
        )  # rows x heads x positions x dim
        own[:, layer] = torch.einsum("rhpd,rpd->rh", per_head, embedded)
        along = per_head.sum(1)
        found += own[:, layer].sum(1)
        for earlier in range(layer):
            head = torch.einsum(
                "rphk,hkd,rpd->rh", seen.values[earlier].double(), parts.outward(earlier).double(), along
            )
            mlp = (seen.mlps[earlier].double() * along).sum((1, 2))
            sources[:, earlier, :-1] += head
            sources[:, earlier, -1] += mlp
            found += head.sum(1) + mlp
    rest = heads_direct.sum((1, 2)) - found
    return ThroughHeads(sources.cpu().numpy(), own.cpu().numpy(), rest.cpu().numpy())
