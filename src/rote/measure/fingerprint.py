"""Fingerprint of weights: the same tensors give the same fingerprint, whatever file they came from."""

from __future__ import annotations

import hashlib
import json

import torch
from torch import Tensor


def weights_fingerprint(weights: dict[str, Tensor]) -> str:
    """SHA-256 over names, dtypes, shapes and bytes, in order of names."""
    state = hashlib.sha256()
    for name in sorted(weights):
        tensor = weights[name].detach().contiguous()
        state.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        state.update(tensor.view(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b"")
    return "sha256:" + state.hexdigest()
