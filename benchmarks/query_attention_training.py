"""Cost of a training step on vector tasks: folded tables against the plain model, interleaved.

    OMP_NUM_THREADS=1 python benchmarks/query_attention_training.py [--rounds 3]

The plain model is written the ordinary way, as the published experiments have it: every token is embedded, and every
head projects every key and value of every example. Both take steps of Adam on batches of 256 examples, 100 classes,
d = k = 64. Figures are milliseconds of CPU time per step on one thread, the least of `--rounds` rounds in which
the competitors take turns. The last column is a step of protocol `fast` (Muon on W_Q and W_K) on 500 of 2,000 examples.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from rote.models.forward.query_attention import sinusoids
from rote.papers.kinds.vectors import VectorSetting
from rote.tasks.generators import random_vectors
from rote.training.query_attention.descent import FoldedObjective, Optimiser
from rote.training.query_attention.problem import Coordinates, VectorProblem
from rote.training.query_attention.protocol import protocol_for
from rote.training.query_attention.train import initial_vector_weights

BATCH = 256
EXAMPLES = 2048
CASES = [
    VectorSetting(1, 32), VectorSetting(5, 32), VectorSetting(20, 32), VectorSetting(20, 60),
    VectorSetting(5, 32, shared=False), VectorSetting(20, 32, shared=False), VectorSetting(20, 60, shared=False),
]  # fmt: skip


class PlainModel(nn.Module):
    """The model as one would write it first."""

    def __init__(self, setting: VectorSetting) -> None:
        super().__init__()
        d, k, heads = setting.dim, setting.head_dim, setting.heads
        self.heads = heads
        self.embed = nn.Linear(d, d)
        self.query, self.key = (nn.Linear(d, heads * k, bias=False) for _ in range(2))
        self.value = nn.Linear(d, heads, bias=False)
        self.output = nn.Linear(heads, d, bias=False)
        self.readout = nn.Linear(d, setting.classes or 1)
        self.positions = sinusoids(setting.context + 1, d).float()

    def forward(self, contexts: Tensor, queries: Tensor) -> Tensor:
        tokens = self.embed(torch.cat([queries[:, None], contexts], 1)) + self.positions
        batch, length, d = tokens.shape
        asked = self.query(tokens[:, :1]).view(batch, 1, self.heads, -1).transpose(1, 2)
        keys = self.key(tokens).view(batch, length, self.heads, -1).transpose(1, 2)
        values = self.value(tokens).view(batch, length, self.heads, 1).transpose(1, 2)
        scores = asked @ keys.mT / d**0.5
        scores[..., 0] = -torch.inf  # the query is no key
        return self.readout(self.output((scores.softmax(-1) @ values)[:, :, 0, 0]))


def plain(setting: VectorSetting) -> Callable[[int], None]:
    task = random_vectors(
        EXAMPLES, setting.context, setting.dim, shared=setting.shared, classes=setting.classes, distribution="uniform"
    )
    torch.manual_seed(0)
    model = PlainModel(setting)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    contexts, queries = (torch.from_numpy(part).float() for part in (task.contexts, task.queries))
    labels = torch.from_numpy(task.labels).long()

    def steps(count: int) -> None:
        for _ in range(count):
            rows = torch.randint(EXAMPLES, (BATCH,))
            own = contexts.expand(BATCH, -1, -1) if setting.shared else contexts[rows]
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(own, queries[rows]), labels[rows]).backward()
            optimiser.step()

    return steps


def folded(setting: VectorSetting, protocol: str, examples: int) -> Callable[[int], None]:
    task = random_vectors(
        examples, setting.context, setting.dim, shared=setting.shared, classes=setting.classes, distribution="uniform"
    )
    settings = protocol_for(protocol, examples, None)
    objective = FoldedObjective(setting.spec, VectorProblem.of(task, Coordinates()))
    weights = {name: part.requires_grad_() for name, part in initial_vector_weights(setting.spec, 0).items()}
    optimiser = Optimiser(weights, settings)

    def steps(count: int) -> None:
        for _ in range(count):
            objective.gradient(weights, torch.randint(examples, (settings.batch or examples,)))
            optimiser.step(1e-3, 1e-3)

    return steps


def least_times(competitors: dict[str, Callable[[int], None]], rounds: int) -> dict[str, float]:
    """Milliseconds of CPU time per step of each, taking turns; the first round warms up."""
    least = dict.fromkeys(competitors, float("inf"))
    for turn in range(rounds + 1):
        for name, steps in competitors.items():
            begun = time.process_time()
            steps(1)
            count = max(1, min(100, int(0.3 / max(time.process_time() - begun, 1e-5))))
            begun = time.process_time()
            steps(count)
            if turn:
                least[name] = min(least[name], (time.process_time() - begun) / count * 1e3)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print("| context | H | n | plain, Adam | folded, Adam | ratio | folded, fast (T/4 = 500) |")
    print("|---|---|---|---|---|---|---|")
    for setting in CASES:
        ms = least_times(
            {
                "plain": plain(setting),
                "folded": folded(setting, "paper", EXAMPLES),
                "fast": folded(setting, "fast", 2000),
            },
            rounds,
        )
        print(
            f"| {'shared' if setting.shared else 'fresh'} | {setting.heads} | {setting.context} | {ms['plain']:.1f} "
            f"| {ms['folded']:.2f} | {ms['plain'] / ms['folded']:.0f} | {ms['fast']:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
