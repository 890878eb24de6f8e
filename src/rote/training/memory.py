"""Memory of a training run: models that cannot fit are rejected before anything is allocated.

`keep_freed_memory` keeps freed memory for the next step. A training step allocates and frees the same tensors over and
over. By default the C library returns memory at the end of its heap at once, and every page of the next step's tensors
is mapped and cleared again. That is a third of a step of `rote.lm_capacity` at 20,000 parameters.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache
from pathlib import Path

from rote.errors import InputError
from rote.models.attention_only import Transformer
from rote.training.polish import HISTORY
from rote.training.problem import TrainingProblem
from rote.training.protocol import Protocol

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""The two settings, as in the C library's `malloc.h`."""
KEPT = 2**31 - 1
"""Bytes at the end of the heap that are not returned: the largest possible value."""
LARGEST = 2**25
"""Bytes of the largest allocation from the heap: the largest value that the C library allows."""


@cache
def keep_freed_memory() -> bool:
    """Keep freed memory in this process from now on; True if the C library is GNU's and accepts the setting."""
    if platform.libc_ver()[0] != "glibc":
        return False
    library = ctypes.CDLL(None)
    return bool(library.mallopt(MMAP_THRESHOLD, LARGEST)) and bool(library.mallopt(TRIM_THRESHOLD, KEPT))


FLOAT = 4
"""Bytes of a number: training is in float32."""
LANES = 16
"""Floats of the widest vectors the native engine may run in; it pads heads and keeps partial sums by them."""
NATIVE_FLOATS = 2**18
"""Floats (1 MiB) added for the native engine's small arrays, which the formula does not count one by one."""
MOST_STACKED = 8
"""Largest number of models that the torch engine trains in one stack, so that small matrices fill the cores. A killed
run loses the running stack, hence no more."""


def bytes_per_model(spec: Transformer, problem: TrainingProblem, protocol: Protocol, stacked: bool) -> int:
    """Peak bytes of one model in training.

    Weights, gradient, two moments and the measured copy of every parameter; L-BFGS's history when it polishes; the
    task's own arrays; and what a step works on.
    """
    per_parameter = 6 + (2 * HISTORY + 4 if protocol.polish else 0)
    working = _stacked_floats(spec, problem, protocol) if stacked else _native_floats(spec)
    table = len(problem) * (problem.context + 8) + 4 * len(problem.tokens)
    return FLOAT * (per_parameter * spec.parameters() + 2 * table + working)


def _stacked_floats(spec: Transformer, problem: TrainingProblem, protocol: Protocol) -> int:
    """Tables of queries, keys and values per token; and what autograd keeps of every context of a step, about three
    copies of scores, keys, values and logits."""
    attention = spec.attention
    tables = 2 * attention.vocab * attention.heads * (2 * attention.rank + attention.head_dim + attention.inner_dim)
    positions = attention.context * attention.layers
    per_context = positions * (attention.heads * (2 * attention.rank + 2 * attention.head_dim + 3) + 4 * spec.dim)
    if attention.layers > 1:
        per_context += attention.layers * attention.heads * attention.context**2 * 3
    step = len(problem) if protocol.batch is None else protocol.batch
    return tables + step * (3 * per_context + 4 * attention.layers * spec.width + 4 * spec.vocab)


def _native_floats(spec: Transformer) -> int:
    """Tables per token with heads padded to the vector width, one partial sum per lane of the large gradients, and
    blocks of a few panels of contexts."""
    attention = spec.attention
    heads = -(-attention.heads // LANES) * LANES
    tables = 2 * (spec.vocab + spec.context) * heads * (2 * attention.rank + attention.head_dim + attention.inner_dim)
    summed = 2 * spec.vocab * spec.dim + 2 * spec.layers * spec.dim * spec.width
    if spec.layers > 1:
        summed += spec.parameters()
    blocks = 16 * (spec.vocab + spec.context * heads + 4 * spec.dim + 2 * spec.width)
    return tables + LANES * (summed + blocks) + NATIVE_FLOATS


def refuse_what_cannot_fit(
    spec: Transformer, problem: TrainingProblem, protocol: Protocol, stacked: bool, limit: int | None = None
) -> None:
    """Raise an error if one model exceeds `limit` bytes. Default: the free memory."""
    limit = free_memory() if limit is None else limit
    needed = bytes_per_model(spec, problem, protocol, stacked)
    if limit is not None and needed > limit:
        raise InputError(
            f"training this {spec.architecture} model ({spec.parameters():,} parameters, {len(problem):,} contexts) "
            f"needs {readable(needed)} and {readable(limit)} are free; "
            "lower `dim` or `heads`, or train on smaller batches (`batch`)"
        )


def free_memory() -> int | None:
    """Bytes available without swapping; None if the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    kibibytes = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return kibibytes[0] * 1024 if kibibytes else None


def readable(size: int) -> str:
    for unit, name in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name} ({size:,} bytes)"
    return f"{size:,} bytes"
