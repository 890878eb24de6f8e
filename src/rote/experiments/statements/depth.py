"""More layers at equal parameters: bits held by look-up tables' models and by stacked query attention."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from rote.experiments.statements.encoders import Numbers
from rote.models.attention_only import AttentionOnly, Transformer
from rote.models.mlp_transformer import MlpTransformer
from rote.models.query_attention import QueryAttention
from rote.papers.kinds.statement_settings import DeepQueries, DeepTable
from rote.tasks import AssociationTask, Vocabulary
from rote.training.protocol import Protocol, learning_rates
from rote.training.trials import TrainingTrial, train_here

RATES = (5e-3, 2e-2, 4e-2)
"""Peaks of the learning rate, of which the one with the least loss counts: deeper models need lower ones."""
QUERY_RATES = (1e-2, 3e-2)
TRAINING = Protocol(name="depth", steps=3000, beta2=0.95)


def table_numbers(cell: DeepTable, seed: int) -> Numbers:
    """Bits that a trained model holds of more facts than fit, by plain cross-entropy."""
    draw = np.random.default_rng(seed)
    keys = draw.choice(cell.vocab**cell.context, cell.facts, replace=False)
    contexts = np.stack(np.unravel_index(keys, (cell.vocab,) * cell.context), 1)
    task = AssociationTask(contexts, draw.integers(cell.vocab, size=cell.facts), Vocabulary.numbered(cell.vocab))
    spec = _spec(cell)
    tried = {peak: train_here(TrainingTrial(task, spec, TRAINING.changed(peak=peak), seed)) for peak in RATES}
    sound = {peak: trained for peak, trained in tried.items() if not trained.diverged}
    if not sound:
        return {"parameters": spec.parameters(), "bits_per_parameter": 0, "accuracy": 0, "rate": None}
    rate = min(sound, key=lambda peak: sound[peak].loss)
    held = cell.facts * (math.log(cell.vocab) - sound[rate].loss) / math.log(2)
    return {
        "parameters": spec.parameters(),
        "bits_per_parameter": held / spec.parameters(),
        "accuracy": sound[rate].accuracy,
        "rate": rate,
        "cpu_seconds": sound[rate].seconds,
    }


def _spec(cell: DeepTable) -> Transformer:
    """`heads` heads in all, or one per layer and the others' parameters as neurons."""
    sizes = {
        "vocab": cell.vocab, "context": cell.context, "dim": cell.dim, "head_dim": cell.dim, "layers": cell.layers,
        "scale_scores": True,
    }  # fmt: skip
    if not cell.mlp:
        return AttentionOnly(**sizes, heads=cell.heads // cell.layers)
    spare = 4 * cell.dim**2 * (cell.heads - cell.layers)
    return MlpTransformer(**sizes, heads=1, width=round(spare / cell.layers / (2 * cell.dim + 1)))


def query_numbers(cell: DeepQueries, seed: int) -> Numbers:
    """Bits held of random labels of random queries after one shared context, by `cell.layers` layers.

    Layer l adds its output to the query that the next layer asks with; the readout reads the last layer's output alone,
    so that one layer is the model of Mahdavi et al. 2024.
    """
    generator = torch.Generator().manual_seed(seed)
    context = torch.randn(cell.context, cell.dim, generator=generator)
    queries = torch.randn(cell.facts, cell.dim, generator=generator)
    labels = torch.randint(cell.classes, (cell.facts,), generator=generator)
    heads = cell.heads // cell.layers
    layer = QueryAttention(
        context=cell.context, dim=cell.dim, head_dim=cell.head_dim, heads=heads, outputs=cell.classes
    )
    readout = cell.classes * cell.dim
    parameters = cell.layers * (layer.parameters() - readout) + readout
    losses = {rate: _fit_queries(cell, heads, context, queries, labels, seed, rate) for rate in QUERY_RATES}
    rate = min(losses, key=lambda rate: losses[rate][0])
    loss, accuracy = losses[rate]
    held = cell.facts * (math.log(cell.classes) - loss) / math.log(2)
    return {"parameters": parameters, "bits_per_parameter": held / parameters, "accuracy": accuracy, "rate": rate}


QUERY_STEPS = 1500


def _fit_queries(
    cell: DeepQueries, heads: int, context: Tensor, queries: Tensor, labels: Tensor, seed: int, peak: float
) -> tuple[float, float]:
    """Loss in nats and accuracy after Adam on all examples per step."""
    generator = torch.Generator().manual_seed(1000 + seed)
    d, k = cell.dim, cell.head_dim

    def drawn(*shape: int) -> Tensor:
        return (torch.randn(*shape, generator=generator) / math.sqrt(d)).requires_grad_()

    layers = [(drawn(heads * k, d), drawn(heads, k, d), drawn(heads, d), drawn(heads, d)) for _ in range(cell.layers)]
    readout = drawn(cell.classes, d)
    adam = torch.optim.Adam([*(tensor for layer in layers for tensor in layer), readout], betas=(0.9, 0.95))

    def logits() -> Tensor:
        asked, added = queries, queries
        for query, key, value, output in layers:
            keys = key @ context.T  # heads x k x n
            asks = (asked @ query.T).unflatten(1, (heads, k)).transpose(0, 1)
            pattern = (asks @ keys / math.sqrt(k)).softmax(2)  # heads x examples x n
            values = context @ value.T  # n x heads
            added = torch.einsum("hen,nh->eh", pattern, values) @ output * math.sqrt(d / heads)
            asked = asked + added
        return added @ readout.T

    for rate in learning_rates("cosine", QUERY_STEPS, peak, 0.0, 0.05, 1):
        adam.param_groups[0]["lr"] = float(rate)
        adam.zero_grad()
        torch.nn.functional.cross_entropy(logits(), labels).backward()
        adam.step()
    with torch.no_grad():
        last = logits()
        loss = float(torch.nn.functional.cross_entropy(last, labels))
        return (loss if math.isfinite(loss) else math.log(cell.classes)), float(
            (last.argmax(1) == labels).float().mean()
        )
