"""Attention or MLP: which component of a trained layer holds the facts, and which holds more at equal cost."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from rote.experiments.statements.encoders import Numbers
from rote.experiments.statements.sparse import recalled
from rote.models.attention_only import AttentionOnly, Transformer
from rote.models.forward import forward
from rote.models.forward.mlp_transformer import neurons, stream
from rote.models.mlp_transformer import MlpTransformer
from rote.papers.kinds.statement_settings import EqualCompute, SplitLayer
from rote.tasks import AssociationTask, Vocabulary
from rote.training.initial import flattened, unflattened
from rote.training.native_engine import NativeObjective
from rote.training.problem import TrainingProblem
from rote.training.protocol import Protocol, learning_rates
from rote.training.trials import TrainingTrial, train_here

TRAINING = Protocol(name="components", steps=2000, peak=2e-2, beta2=0.95)
RELEARN_STEPS, RELEARN_RATES = 1000, (5e-3, 2e-2)
ATTENTION, MLP = ("query", "key", "value", "output"), ("mlp_in", "mlp_bias", "mlp_out")
COMPUTE_RATES = (1e-2, 3e-2)


def random_table(vocab: int, facts: int, seed: int) -> AssociationTask:
    """Random answers to random pairs of tokens."""
    draw = np.random.default_rng(seed)
    contexts = np.stack(np.divmod(draw.choice(vocab**2, facts, replace=False), vocab), 1)
    return AssociationTask(contexts, draw.integers(vocab, size=facts), Vocabulary.numbered(vocab))


def split_numbers(cell: SplitLayer, seed: int) -> Numbers:
    """Accuracy after each ablation, and of new answers to the same keys when one component alone is trained."""
    task = random_table(cell.vocab, cell.facts, seed)
    neurons_each = 4 * cell.dim * cell.head_dim / (2 * cell.dim + 1)
    spec = MlpTransformer(
        vocab=cell.vocab, context=2, dim=cell.dim, head_dim=cell.head_dim, heads=cell.heads,
        width=round((cell.budget - cell.heads) * neurons_each), scale_scores=True,
    )  # fmt: skip
    trained = train_here(TrainingTrial(task, spec, TRAINING, seed))
    weights = trained.model.weights
    numbers: Numbers = {"parameters": spec.parameters(), "accuracy": trained.accuracy}
    for name, logits in _ablated(spec, weights, torch.from_numpy(task.contexts).long()).items():
        numbers[name] = float(recalled(logits, task.answers).mean())
    answers = np.random.default_rng(10_000 + seed).integers(cell.vocab, size=cell.facts)
    renewed = AssociationTask(task.contexts, answers, task.vocabulary)
    for name, parts in (("new_attention", ATTENTION), ("new_mlp", MLP), ("new_both", ATTENTION + MLP)):
        numbers[name] = max(_relearned(spec, weights, renewed, parts, peak) for peak in RELEARN_RATES)
    share = cell.heads / cell.budget
    return numbers | {
        "attention_shortfall": share - (numbers["new_attention"] or 0.0),
        "mlp_shortfall": 1 - share - (numbers["new_mlp"] or 0.0),
    }


def _ablated(spec: MlpTransformer, weights: dict[str, Tensor], contexts: Tensor) -> dict[str, Tensor]:
    """Logits without a component (zero), with its mean over facts in its place, and with mean attention patterns."""
    output, second, unembed = "layers.0.output", "layers.0.mlp_out", weights["unembed"]
    without = {name: {**weights, name: torch.zeros_like(weights[name])} for name in (output, second)}
    bare = stream(spec, {**without[output], second: torch.zeros_like(weights[second])}, contexts)
    attended = stream(spec, without[second], contexts)

    def through_mlp(entering: Tensor) -> Tensor:
        return entering + neurons(spec, weights, 0, entering) @ weights[second].T

    def mean_pattern(name: str, tensor: Tensor) -> Tensor:
        return tensor.mean(0, keepdim=True).expand_as(tensor) if name.endswith(".attention") else tensor

    added = through_mlp(attended) - attended
    return {
        "no_attention": forward(spec, without[output], contexts),
        "mean_attention": through_mlp(bare + (attended - bare).mean(0)) @ unembed.T,
        "mean_pattern": forward(spec, weights, contexts, mean_pattern),
        "no_mlp": forward(spec, without[second], contexts),
        "mean_mlp": (attended + added.mean(0)) @ unembed.T,
    }


def _relearned(
    spec: MlpTransformer, weights: dict[str, Tensor], task: AssociationTask, parts: tuple[str, ...], peak: float
) -> float:
    """Accuracy on new answers after Adam on these parts alone; everything else stays as it was trained."""
    problem = TrainingProblem.of(task)
    objective = NativeObjective(spec, problem, problem.prior)
    flat = flattened(spec, weights)
    free = np.concatenate(
        [np.full(int(np.prod(shape)), name.rsplit(".", 1)[-1] in parts) for name, shape in spec.shapes().items()]
    )
    first, second = np.zeros(free.sum()), np.zeros(free.sum())
    for step, rate in enumerate(learning_rates("cosine", RELEARN_STEPS, peak, 0.0, 0.05, 1), 1):
        gradient = objective.gradient(flat[None]).gradient[0][free]
        first, second = 0.9 * first + 0.1 * gradient, 0.95 * second + 0.05 * gradient**2
        scaled = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.95**step)) + 1e-8)
        flat[free] -= (rate * scaled).astype(np.float32)
    logits = forward(spec, unflattened(spec, flat), torch.from_numpy(task.contexts).long())
    return float(recalled(logits, task.answers).mean())


def compute_numbers(cell: EqualCompute, seed: int) -> Numbers:
    """Accuracy of attention and of an MLP of its size after as many steps as the same arithmetic pays for."""
    task = random_table(cell.vocab, cell.vocab**2, seed)
    sizes = {"vocab": cell.vocab, "context": 2, "dim": cell.dim, "head_dim": cell.dim, "scale_scores": True}
    specs: dict[str, Transformer] = {
        "attention": AttentionOnly(**sizes, heads=cell.heads),
        "mlp": MlpTransformer(**sizes, heads=1, width=2 * cell.dim * (cell.heads - 1)),
    }
    numbers: Numbers = {}
    for name, spec in specs.items():
        steps = max(1, round(cell.gigaflops * 1e9 / (3 * task.facts * flops_per_context(spec))))
        protocols = [Protocol(name="compute", steps=steps, peak=peak, beta2=0.95) for peak in COMPUTE_RATES]
        runs = [train_here(TrainingTrial(task, spec, protocol, seed)) for protocol in protocols]
        best = max(runs, key=lambda run: run.accuracy or 0.0)
        numbers |= {
            name: best.accuracy or 0.0, f"{name}_steps": steps, f"{name}_cpu_seconds": best.seconds,
            f"{name}_parameters": spec.parameters(),
        }  # fmt: skip
    return numbers


def flops_per_context(spec: Transformer) -> int:
    """Floating-point operations of one forward pass of one layer, two per multiplication: plain products, no tables."""
    d, k, S = spec.dim, spec.head_dim, spec.context
    heads = spec.heads * (2 * d * k + 2 * S * d * k + 2 * S * k)
    return 2 * (heads + 2 * d * spec.width + d * spec.vocab)
