"""What a figure costs, before it is run: rough CPU time.

A step takes about 10 microseconds and 0.16 nanoseconds for each of these multiply-adds of the forward pass:
tables over the vocabulary (4dk a token and head), attention (2k a context and head), MLP (2dw a context) and readout
(Nd a context). Layers after the first cannot be tabled: over all pairs of tokens each projects the last position of
every pair, over a list of contexts all layers project every position of every context.
The two constants were fitted to 1,500 trials of the paper's figures on one core with 8 float lanes; nine tenths of them
took 0.7 to 2.1 times as long. Expect a factor of two either way on another machine, several where the native engine is
not built.
"""

from __future__ import annotations

from rote.experiments.lookups.schedule import LookupSchedule, cell_protocol
from rote.models.attention_only import Transformer
from rote.models.mlp_transformer import MlpTransformer

PER_STEP = 1e-5
PER_PRODUCT = 1.6e-10
PER_POLISH = 2.5
"""An L-BFGS iteration in steps: a step, its line search, its history."""


def products(spec: Transformer, contexts: int) -> int:
    """Multiply-adds of one forward pass over so many contexts, as the engines do it."""
    d, k, H = spec.dim, spec.head_dim, spec.heads
    neurons = 2 * d * spec.width if isinstance(spec, MlpTransformer) else 0
    mixing = 2 * k * H * spec.context // 2 + neurons
    projections = 4 * d * k * H
    readout = contexts * spec.vocab * d
    tabled = spec.vocab * projections + contexts * mixing
    if spec.layers == 1:
        return tabled + readout
    if contexts == spec.vocab**2 and spec.context == 2:
        return tabled + (spec.layers - 1) * (contexts + spec.vocab) * (projections + mixing) + readout
    return contexts * spec.context * spec.layers * (projections + mixing) + readout


def lookup_cost(schedule: LookupSchedule) -> tuple[int, float]:
    """Trials and estimated CPU seconds of a schedule."""
    total = 0.0
    for cell in schedule.cells:
        protocol = cell_protocol(cell, schedule.protocol)
        contexts = cell.spec.vocab**cell.spec.context
        step = PER_STEP + PER_PRODUCT * products(cell.spec, protocol.batch or contexts)
        polish = PER_STEP + PER_PRODUCT * products(cell.spec, contexts)
        total += protocol.steps * step + PER_POLISH * protocol.polish * polish
    return len(schedule.cells) * schedule.repeats, total * schedule.repeats
