"""Warm starts: weights that were built, as the point where training begins.

A model knows nothing of how its weights were made, so a built model's tensors are a start like any other. What a
construction leaves behind is unusual in two ways that a trainer should know of: attention scores are large (standard
deviation 5 and more), so queries and keys move slowly until they are scaled down; and every fact is already right, so
the loss begins near zero when logits are scaled up, or near log N when they are small.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rote.errors import InputError
from rote.models.model import Model


def warm_start(model: Model, dtype: torch.dtype = torch.float32, logit_scale: float = 1.0) -> dict[str, Tensor]:
    """Copies of a model's tensors in `dtype`, by the names its specification gives them; integer tensors stay.

    `logit_scale` multiplies the unembedding: answers keep their order, margins and the loss's sharpness change.
    """
    if not logit_scale > 0:
        raise InputError(f"logit_scale: {logit_scale} is not positive, so answers would change")
    weights = {name: tensor.detach().clone() for name, tensor in model.to(dtype).weights.items()}
    if logit_scale != 1.0:
        if "unembed" not in weights:
            raise InputError(f"logit_scale: a {model.spec.architecture} model has no unembedding to scale")
        weights["unembed"] *= logit_scale
    return weights
