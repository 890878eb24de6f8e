"""Cost of a training step: each engine against a plain baseline, interleaved, and against the sizes of the model.

    python benchmarks/training_step.py [--rounds 5] [--sizes]

Figures are milliseconds of CPU time per step and model on one thread, the least of `--rounds` rounds in which the
competitors take turns. The baseline is written the ordinary way: one attention module per head, Adam, minibatches of
256. `share` is what the step's multiplications and additions alone would take at the speed of a large single-precision
matrix product, over what the step took.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from rote.experiments.lookups.kind import products
from rote.models.attention_only import AttentionOnly, Transformer
from rote.models.mlp_transformer import MlpTransformer
from rote.tasks import AssociationTask, Vocabulary
from rote.training import native_engine as native
from rote.training.initial import initial_weights
from rote.training.objective import AdamSettings, AdamState, Objective
from rote.training.problem import TrainingProblem
from rote.training.torch_objective import TorchObjective

ADAM = AdamSettings(0.9, 0.99, 1e-8)
BATCH = 256


class PlainTransformer(nn.Module):
    """The model as one would write it first."""

    def __init__(self, vocab: int, context: int, dim: int, heads: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.positions = nn.Parameter(torch.randn(context, dim) / dim**0.5)
        self.heads = nn.ModuleList(
            nn.MultiheadAttention(dim, num_heads=1, bias=False, batch_first=True) for _ in range(heads)
        )
        self.unembed = nn.Linear(dim, vocab, bias=False)

    def forward(self, contexts: Tensor) -> Tensor:
        x = self.embed(contexts) + self.positions
        last = x[:, -1:]
        stream = last
        for head in self.heads:
            stream = stream + head(last, x, x)[0]
        return self.unembed(stream[:, 0])


def lookup(vocab: int, context: int = 2, most: int = 2**16) -> AssociationTask:
    rng = np.random.default_rng(0)
    if vocab**context <= most:
        contexts = np.stack(np.unravel_index(np.arange(vocab**context), [vocab] * context), 1)
    else:
        contexts = rng.integers(vocab, size=(most // 8, context))
    return AssociationTask(contexts, rng.integers(vocab, size=len(contexts)), Vocabulary.numbered(vocab))


def baseline(task: AssociationTask, dim: int, heads: int) -> Callable[[int], None]:
    torch.manual_seed(0)
    model = PlainTransformer(task.vocab, task.context, dim, heads)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    contexts, answers = torch.from_numpy(task.contexts).long(), torch.from_numpy(task.answers).long()

    def steps(count: int) -> None:
        for _ in range(count):
            rows = torch.randint(len(answers), (BATCH,))
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(contexts[rows]), answers[rows]).backward()
            optimiser.step()

    return steps


def engine(objective: Objective, models: int, batch: int | None) -> Callable[[int], None]:
    flat = np.stack([initial_weights(objective.spec, seed) for seed in range(models)])
    state = AdamState.start(flat)
    rng = np.random.default_rng(0)

    def steps(count: int) -> None:
        rows = None
        if batch is not None:
            rows = rng.integers(len(objective.problem), size=(models, count, batch), dtype=np.int32)
        objective.adam_steps(state, np.full(count, 1e-3), rows, ADAM)

    return steps


def least_times(competitors: dict[str, tuple[Callable[[int], None], int]], rounds: int) -> dict[str, float]:
    """Milliseconds per step and model of each, taking turns."""
    least = dict.fromkeys(competitors, float("inf"))
    for turn in range(rounds + 1):
        for name, (steps, models) in competitors.items():
            begun = time.process_time()
            steps(1)
            once = time.process_time() - begun
            count = max(1, min(200, int(0.15 / max(once, 1e-5))))
            begun = time.process_time()
            steps(count)
            if turn:  # the first round warms up
                least[name] = min(least[name], (time.process_time() - begun) / count / models * 1e3)
    return least


def sgemm_speed() -> float:
    """Floating-point operations per second of a 1024 x 1024 product on one thread."""
    a = torch.randn(1024, 1024)
    torch.mm(a, a)
    times = []
    for _ in range(10):
        begun = time.process_time()
        torch.mm(a, a)
        times.append(time.process_time() - begun)
    return 2 * 1024**3 / min(times)


def operations(spec: Transformer, contexts: int) -> float:
    """Multiplications and additions of a step, forward and twice that backward."""
    if spec.layers > 1:
        return 3 * 2 * products(spec, contexts)
    N, S, d, k, H = spec.vocab, spec.context, spec.dim, spec.head_dim, spec.heads
    tables = (N + S) * H * d * k * 4
    width = getattr(spec, "width", 0)
    per_context = S * H * (k + d) + 2 * d * width + N * d
    return 3 * 2 * (tables + contexts * per_context)


def attention(vocab: int, dim: int, heads: int, context: int = 2, layers: int = 1) -> AttentionOnly:
    return AttentionOnly(
        vocab=vocab,
        context=context,
        dim=dim,
        head_dim=dim,
        heads=heads,
        layers=layers,
        positions="attention" if layers > 1 else "stream",
        scale_scores=True,
    )


def with_mlp(vocab: int, dim: int, width: int, layers: int = 1) -> MlpTransformer:
    return MlpTransformer(
        vocab=vocab,
        context=2,
        dim=dim,
        head_dim=dim,
        width=width,
        layers=layers,
        positions="attention" if layers > 1 else "stream",
    )


def against_the_baseline(rounds: int, peak: float) -> None:
    print("milliseconds per step and model, vocab 50, two tokens (fb: all 2500 pairs; mb: 256 of them)\n")
    names = ("d = k, H", "plain, mb", "torch x5, mb", "native, mb", "plain / native, mb")
    names += ("torch x5, fb", "native, fb", "torch / native, fb", "share, fb")
    print(f"| {' | '.join(names)} |")
    print("|---|---|---|---|---|---|---|---|---|")
    for dim, heads in ((10, 21), (13, 31), (10, 1), (5, 11)):
        spec, task = attention(50, dim, heads), lookup(50)
        problem = TrainingProblem.of(task)
        stacked = TorchObjective(spec, problem, problem.prior)
        competitors = {
            "plain": (baseline(task, dim, heads), 1),
            "torch mb": (engine(stacked, 5, BATCH), 5),
            "torch fb": (engine(stacked, 5, None), 5),
        }
        if native.lanes():
            fused = native.NativeObjective(spec, problem, problem.prior)
            competitors |= {"native mb": (engine(fused, 1, BATCH), 1), "native fb": (engine(fused, 1, None), 1)}
        ms = least_times(competitors, rounds)
        mb, fb = ms.get("native mb", np.nan), ms.get("native fb", np.nan)
        share = operations(spec, len(problem)) / (fb * 1e-3) / peak
        print(
            f"| {dim}, {heads} | {ms['plain']:.1f} | {ms['torch mb']:.2f} | {mb:.3f} | {ms['plain'] / mb:.0f} "
            f"| {ms['torch fb']:.2f} | {fb:.3f} | {ms['torch fb'] / fb:.1f} | {share:.2f} |"
        )


def against_sizes(rounds: int, peak: float) -> None:
    cases: list[tuple[str, Transformer, int | None]] = []
    cases += [(f"vocab {vocab}", attention(vocab, 10, 21), None) for vocab in (25, 50, 100, 200)]
    cases += [(f"heads {heads}", attention(50, 10, heads), None) for heads in (1, 10, 20, 40)]
    cases += [(f"dim {dim}", attention(50, dim, 21), None) for dim in (5, 10, 20, 40)]
    cases += [(f"context {context}", attention(50, 10, 21, context), BATCH) for context in (2, 4, 16, 64)]
    cases += [(f"vocab {vocab}, context 16", attention(vocab, 32, 16, 16), BATCH) for vocab in (1000, 4000)]
    cases += [(f"MLP of width {width}", with_mlp(50, 10, width), None) for width in (100, 400)]
    cases += [
        ("vocab 200, d = k = 50, H = 11", attention(200, 50, 11), None),
        ("the same", attention(200, 50, 11), 1024),
        ("vocab 200, d = k = 50, MLP of width 1000", with_mlp(200, 50, 1000), 4096),
        ("vocab 70, d = k = 13, H = 31", attention(70, 13, 31), None),
        ("vocab 70, d = k = 13, MLP of width 780", with_mlp(70, 13, 780), None),
        ("vocab 70, d = k = 13, H = 21, three layers", attention(70, 13, 21, layers=3), None),
        ("the same", attention(70, 13, 21, layers=3), 512),
        ("vocab 70, d = k = 13, MLP of width 520, three layers", with_mlp(70, 13, 520, layers=3), None),
    ]
    print("\nmilliseconds per step and model against sizes (vocab 50, d = k = 10, H = 21 unless said)\n")
    print("| | contexts per step | native | share | torch x1 | torch x5 |")
    print("|---|---|---|---|---|---|")
    for name, spec, batch in cases:
        problem = TrainingProblem.of(lookup(spec.vocab, spec.context))
        stacked = TorchObjective(spec, problem, problem.prior)
        competitors = {"torch 1": (engine(stacked, 1, batch), 1)}
        if (batch or len(problem)) * spec.context * spec.layers <= 16_384:
            competitors["torch 5"] = (engine(stacked, 5, batch), 5)
        if native.lanes():
            competitors["native"] = (engine(native.NativeObjective(spec, problem, problem.prior), 1, batch), 1)
        ms = least_times(competitors, rounds)
        step = batch or len(problem)
        share = operations(spec, step) / (ms.get("native", np.nan) * 1e-3) / peak
        five = f"{ms['torch 5']:.2f}" if "torch 5" in ms else "-"
        print(f"| {name} | {step} | {ms.get('native', np.nan):.3f} | {share:.2f} | {ms['torch 1']:.2f} | {five} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", action="store_true", help="also the cost against every size")
    options = parser.parse_args()
    torch.set_num_threads(1)
    peak = sgemm_speed()
    print(f"SGEMM on one thread: {peak / 1e9:.0f} GFLOP/s; native vectors: {native.lanes() or 'not built'}\n")
    against_the_baseline(options.rounds, peak)
    if options.sizes:
        against_sizes(options.rounds, peak)


if __name__ == "__main__":
    main()
