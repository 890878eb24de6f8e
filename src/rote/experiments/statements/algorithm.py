"""By which algorithm does a trained attention layer recall facts? Hypotheses that one layer can tell apart.

*Look-up*: a head selects a token (its softmax is saturated), and each fact is kept in one head. *Linear solve*, as in
the proof of Theorem 1: attention only gives features in general position, and the readout solves for as many facts as
the features have rank. *Fitted features*: patterns and embeddings are fitted to these very facts.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from rote.constructions.build import build
from rote.constructions.common.random_attention.draw import ScoreSize
from rote.constructions.common.random_attention.setting import AttentionSetting
from rote.constructions.dana2025.encoder import Encoder
from rote.constructions.dana2025.output_fits import OutputProblem, joint_output
from rote.experiments.statements.encoders import Numbers
from rote.experiments.statements.sparse import FIT_STEPS, TRAINING, Facts, recalled
from rote.models.attention_only import AttentionOnly
from rote.models.forward import forward
from rote.models.forward.attention_only import attention_of, head_values, layer_heads, score_scale
from rote.papers.kinds.statement_settings import LayerAlgorithm
from rote.papers.kinds.vectors import SATURATED
from rote.tasks import AssociationTask, Vocabulary
from rote.training.trials import TrainingTrial, train_here


class Layer(NamedTuple):
    """One layer on given contexts: the direct path, each head's values before and after W_O, and its patterns."""

    direct: Tensor
    values: Tensor
    added: Tensor
    patterns: Tensor

    @classmethod
    def of(cls, spec: AttentionOnly, weights: dict[str, Tensor], contexts: Tensor) -> Layer:
        entering = weights["tokens"][contexts] + weights["positions"]
        part, last = layer_heads(weights, 0), entering[:, -1:]
        values = head_values(part, last, entering, score_scale(spec))[:, 0]
        added = torch.einsum("bhk,hdk->bhd", values, part["output"])
        return cls(last[:, 0], values, added, attention_of(part, last, entering, score_scale(spec))[:, 0])

    @property
    def features(self) -> Tensor:
        """All that a readout of this attention can read."""
        return torch.cat([self.direct, self.values.flatten(1)], 1)


def algorithm_numbers(cell: LayerAlgorithm, seed: int) -> Numbers:
    """How a trained layer and the one of Theorem 1 react, and what fitted readouts recall on several features."""
    facts = Facts.random(cell.vocab, cell.facts, seed)
    spec = AttentionOnly(
        vocab=cell.vocab, context=2, dim=cell.dim, head_dim=cell.dim, heads=cell.heads, scale_scores=True
    )
    task = facts.task(facts.priors["uniform"])
    model = train_here(TrainingTrial(task, spec, TRAINING, seed)).model
    contexts = torch.from_numpy(facts.contexts).long()
    weights = {name: tensor.double() for name, tensor in model.weights.items()}
    layer = Layer.of(spec, weights, contexts)
    right = recalled(forward(spec, weights, contexts), facts.answers)
    unscaled = spec.model_copy(update={"scale_scores": False})
    generator = torch.Generator().manual_seed(seed)
    drawn = AttentionSetting.draw(task, unscaled, torch.float64, ScoreSize().plain(spec.heads), generator)
    renewed = np.random.default_rng(10_000 + seed).integers(cell.vocab, size=cell.facts)
    own = readout_recalls(layer.features, facts.answers, spec, seed)
    new = readout_recalls(layer.features, renewed, spec, seed)
    random = readout_recalls(drawn.features, facts.answers, spec, seed)
    return {
        "parameters": spec.parameters(),
        "recalled": int(right.sum()),
        "rank": int(torch.linalg.matrix_rank(layer.features)),
        "own_readout": own,
        "new_readout": new,
        "random_readout": random,
        "new_over_own": new / max(own, 1),
        "own_over_random": own / max(random, 1),
        **reactions(spec, weights, contexts, facts.answers),
        **{f"built_{name}": value for name, value in _built(facts, spec, seed).items()},
    }


def reactions(spec: AttentionOnly, weights: dict[str, Tensor], contexts: Tensor, answers: np.ndarray) -> Numbers:
    """Of the facts that the model recalls: the share kept with hard patterns, with mean patterns, and on average with
    one head replaced by its mean; the share of patterns that are saturated."""
    layer, unembed = Layer.of(spec, weights, contexts), weights["unembed"]
    right = recalled((layer.direct + layer.added.sum(1)) @ unembed.T, answers)
    if not right.any():
        return {"saturated": None, "hard": None, "mean_pattern": None, "kept_without_head": None, "one_head_each": None}

    def kept(logits: Tensor) -> float:
        return float(recalled(logits, answers)[right].mean())

    def hard(name: str, tensor: Tensor) -> Tensor:
        if not name.endswith(".attention"):
            return tensor
        return functional.one_hot(tensor.argmax(-1), tensor.shape[-1]).to(tensor)

    def mean(name: str, tensor: Tensor) -> Tensor:
        return tensor.mean(0, keepdim=True).expand_as(tensor) if name.endswith(".attention") else tensor

    stream = layer.direct + layer.added.sum(1)
    without = [
        kept((stream - layer.added[:, head] + layer.added[:, head].mean(0)) @ unembed.T) for head in range(spec.heads)
    ]
    chosen = layer.patterns[torch.from_numpy(right)]
    return {
        "saturated": float((chosen.amax(-1) > SATURATED).double().mean()),
        "hard": kept(forward(spec, weights, contexts, hard)),
        "mean_pattern": kept(forward(spec, weights, contexts, mean)),
        "kept_without_head": float(np.mean(without)),
        "one_head_each": 1 - 2 / spec.heads,
    }


def readout_recalls(features: Tensor, answers: np.ndarray, spec: AttentionOnly, seed: int) -> int:
    """Facts recalled by the W_O and W_U that fit these answers best, everything before them as it is."""
    generator = torch.Generator().manual_seed(seed)
    unembed = torch.randn(spec.vocab, spec.dim, generator=generator, dtype=torch.float64)
    truth = functional.one_hot(torch.from_numpy(answers).long(), spec.vocab).double()
    prior = torch.full((len(answers),), 1 / len(answers), dtype=torch.float64)
    problem = OutputProblem(features, Encoder(unembed, torch.zeros(len(truth), spec.dim).double()), truth, prior)
    start = torch.zeros(features.shape[1], spec.dim, dtype=torch.float64)
    fitted, unembed = joint_output(problem, start, FIT_STEPS)
    return int(recalled(features @ fitted @ unembed.T, answers).sum())


def _built(facts: Facts, spec: AttentionOnly, seed: int) -> Numbers:
    """The same reactions of the layer that Theorem 1 builds for as many facts as it guarantees."""
    stored = spec.heads * spec.head_dim + spec.dim
    table = AssociationTask(facts.contexts, facts.answers, Vocabulary.numbered(facts.vocab)).take(slice(0, stored))
    built = build(
        table, "dana2025.theorem1", dim=spec.dim, head_dim=spec.head_dim, heads=spec.heads, dtype="float64", seed=seed
    ).model
    return reactions(
        cast(AttentionOnly, built.spec), built.weights, torch.from_numpy(table.contexts).long(), table.answers
    )
