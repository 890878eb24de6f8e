"""Formats of GGUF: weights put into blocks of few bits, and what llama.cpp rounds when it computes with them.

A row is divided into blocks of 32 numbers (256 for TQ1_0 and TQ2_0), each with a scale. Q8_0, Q5_0 and Q4_0 hold whole
numbers times a float16 scale, so that rows that are on such a grid already (`rote.models.grid`) are held exactly: their
codes are written as they are. Other rows, and the other formats, are rounded by the `gguf` package.

llama.cpp rounds what such a matrix is multiplied with to 8 bits, in blocks as well: `rounded_inputs` does the same.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

BLOCKS = {
    "Q8_0": 32, "Q5_0": 32, "Q5_1": 32, "Q4_0": 32, "Q4_1": 32, "MXFP4": 32, "TQ1_0": 256, "TQ2_0": 256
}  # fmt: skip
"""Numbers per block of every format that is written."""
WHOLE = {"Q8_0": (-127, 127), "Q5_0": (-16, 15), "Q4_0": (-8, 7)}
"""Codes of the formats that hold whole numbers times a scale."""
FORMATS = tuple(BLOCKS)


def encoded(rows: np.ndarray, name: str, step: np.ndarray | None = None) -> np.ndarray:
    """The bytes of these rows (rows x bytes); `step` is the grid of each row, where it is on one."""
    from gguf import GGMLQuantizationType, quants

    rounded = quants.quantize(np.ascontiguousarray(rows, np.float32), GGMLQuantizationType[name])
    if step is None or name not in WHOLE:
        return rounded
    low, high = WHOLE[name]
    half = step.astype(np.float16)
    scale = half.astype(np.float64)[:, None]
    codes = np.divide(rows, scale, out=np.zeros(rows.shape), where=scale > 0)
    codes = np.clip(np.rint(codes), low, high)
    exact = (codes * scale == rows).all(axis=1) & (half == step)
    blocks = codes.reshape(len(rows), -1, BLOCKS[name]).astype(np.int64)
    scales = np.broadcast_to(half[:, None, None], (*blocks.shape[:2], 1))
    own = np.concatenate([np.ascontiguousarray(scales).view(np.uint8), _digits(blocks, name)], axis=2)
    return np.where(exact[:, None], own.reshape(len(rows), -1), rounded)


def decoded(data: np.ndarray, name: str) -> np.ndarray:
    """The numbers of rows of bytes, in float32."""
    from gguf import GGMLQuantizationType, quants

    return quants.dequantize(data, GGMLQuantizationType[name])


def _digits(codes: np.ndarray, name: str) -> np.ndarray:
    """Codes (rows x blocks x 32) as the bytes behind a block's scale."""
    if name == "Q8_0":
        return codes.astype(np.int8).view(np.uint8)
    digits = (codes - WHOLE[name][0]).astype(np.uint8)
    pairs = (digits[..., :16] & 15) | (digits[..., 16:] & 15) << 4
    if name == "Q4_0":
        return pairs
    return np.concatenate([np.packbits(digits >> 4, axis=2, bitorder="little"), pairs], axis=2)


def rounded_inputs(x: Tensor, name: str) -> Tensor:
    """What llama.cpp multiplies a matrix of this format with: 8 bits and a scale per block."""
    block = BLOCKS[name]
    parts = x.reshape(*x.shape[:-1], -1, block)
    scale = parts.abs().amax(-1, keepdim=True) / 127
    codes = torch.where(scale > 0, parts / torch.where(scale > 0, scale, 1), 0).round()
    kept = scale if block == 256 else scale.half().to(x.dtype)
    return (codes * kept).reshape(x.shape)
