"""Models in which the place of every fact is known, because it was put there.

The planted ones are stacks of attention and MLP whose residual stream has four blocks: the token, its position, a copy
of the subject, and the answer. Facts are (subject, relation) -> answer, asked at the relation. A fact lies in

- a *head*: it attends to the subject, and its value and output matrices map the subject to the answer;
- a *late MLP*: another head has copied the subject to the last token, where neurons read it;
- an *early MLP*: neurons at the subject write the answer there, and a later head copies the answer to the last token;
- a *relayed head*: an early MLP copies the subject, whoever it is, and a head maps that copy to the answer.

Components that only copy are *carriers*: facts are lost without them, but they hold none. All other heads and MLPs are
random and small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

import rote
from rote.lm.attribution.components import LmComponent
from rote.lm.language_model import LanguageModel

Store = Literal["head", "late MLP", "early MLP", "relayed head"]
RELATION = "r"
ANSWERS = 12
HEADS = 4
NOISE = 0.05
"""Size of the random components: changes of the residual stream relative to a token."""
SHARP = 40.0
"""Score by which planted heads prefer the subject."""


@dataclass(frozen=True, eq=False)
class KnownModel:
    """A model, its facts, and the components that hold each."""

    name: str
    group: str
    model: rote.Model | LanguageModel
    facts: dict[tuple[str, ...], str]
    truth: Callable[[tuple[str, ...]], set[LmComponent]]
    carriers: frozenset[LmComponent] = frozenset()
    templates: tuple[str, ...] = ()


def subjects(number: int) -> dict[tuple[str, ...], str]:
    """Facts of one relation with random answers."""
    chance = np.random.default_rng(number)
    return {(f"s{place}", RELATION): f"a{chance.integers(ANSWERS)}" for place in range(number)}


def planted(
    name: str, stores: Sequence[Sequence[Store]], number: int = 24, size: int = 24, layers: int = 4, seed: int = 1
) -> KnownModel:
    """Plant facts in turn into each group of stores; a group of two holds its facts twice.

    `size` is the dimension of a token: with more facts than that, heads superpose them.
    """
    chance = torch.Generator().manual_seed(seed)
    facts = subjects(number)
    task = rote.facts(facts)
    spec = rote.MlpTransformer(
        vocab=len(task.vocabulary), context=2, dim=2 * size + 2 + ANSWERS, head_dim=size, heads=HEADS,
        width=max(number, 2 * size) + 8, activation="relu", layers=layers, wide_heads=True,
    )  # fmt: skip
    weights = {
        name: NOISE * torch.randn(shape, generator=chance, dtype=torch.float64) / shape[-1] ** 0.5
        for name, shape in spec.shapes().items()
    }
    plot = _Plot(weights, size, chance)
    plot.embed(task.vocabulary.tokens)
    order = torch.randperm(HEADS, generator=chance).tolist()
    # Carriers come before what reads them: the subject is copied halfway, answers in the last layer.
    last = layers - 1
    homes: dict[Store, LmComponent] = {
        "head": LmComponent(last, order[0]), "late MLP": LmComponent(last, None), "early MLP": LmComponent(0, None),
        "relayed head": LmComponent(last, order[3]),
    }  # fmt: skip
    copying, moving = LmComponent(last // 2, order[1]), LmComponent(last, order[2])
    used = {store for group in stores for store in group}
    carriers = set()
    if "late MLP" in used:
        carriers.add(copying)
        plot.head(copying, plot.token, plot.copy, torch.eye(size, dtype=torch.float64))
    if "early MLP" in used:
        carriers.add(moving)
        plot.head(moving, plot.answer, plot.answer, torch.eye(ANSWERS, dtype=torch.float64))
    if "relayed head" in used:
        carriers.add(LmComponent(0, None))
        plot.relay(0)
    held: dict[tuple[str, ...], set[LmComponent]] = {}
    for part, group in enumerate(stores):
        own = [key for place, key in enumerate(facts) if place % len(stores) == part]
        for store in group:
            plot.store(store, homes[store], [(key[0], int(facts[key][1:])) for key in own])
        held |= {key: {homes[store] for store in group} for key in own}
    model = rote.Model(spec, weights, task.vocabulary).with_reader(task)
    return KnownModel(name, "planted", model, facts, held.__getitem__, frozenset(carriers))


class _Plot:
    """Writes heads and neurons into the weights of a planted model."""

    def __init__(self, weights: dict[str, Tensor], size: int, chance: torch.Generator) -> None:
        self.weights, self.chance = weights, chance
        self.token, self.place = slice(0, size), slice(size, size + 2)
        self.copy, self.answer = slice(size + 2, 2 * size + 2), slice(2 * size + 2, 2 * size + 2 + ANSWERS)
        self.vectors: dict[str, Tensor] = {}

    def embed(self, words: Sequence[str]) -> None:
        tokens, unembed = self.weights["tokens"], self.weights["unembed"]
        tokens.zero_()
        unembed.zero_()
        for row, word in enumerate(words):
            vector = torch.randn(self.token.stop, generator=self.chance, dtype=torch.float64)
            self.vectors[word] = vector / vector.norm()
            if not word.startswith("a"):
                tokens[row, self.token] = self.vectors[word]
            else:
                unembed[row, self.answer.start + int(word[1:])] = 1.0
        self.weights["positions"].zero_()
        self.weights["positions"][0, self.place.start] = self.weights["positions"][1, self.place.stop - 1] = 1.0

    def head(self, part: LmComponent, source: slice, target: slice, matrix: Tensor) -> None:
        """A head that attends to the subject and maps one block of its stream into another at the last token."""
        query, key, value, output = (
            self.weights[f"layers.{part.layer}.{name}"][part.head] for name in ("query", "key", "value", "output")
        )
        for tensor in (query, key, value, output):
            tensor.zero_()
        query[0, self.place.stop - 1] = key[0, self.place.start] = SHARP**0.5
        rows = matrix.shape[1]
        value[:rows, source] = torch.eye(rows, dtype=torch.float64)
        output[target, :rows] = matrix

    def relay(self, layer: int) -> None:
        """An MLP that copies any token: two neurons per dimension, relu(x) - relu(-x) = x."""
        name, size = f"layers.{layer}.", self.token.stop
        gates, bias, out = (self.weights[name + part] for part in ("mlp_in", "mlp_bias", "mlp_out"))
        gates[: 2 * size], bias[: 2 * size], out[:, : 2 * size] = 0.0, 0.0, 0.0
        identity = torch.eye(size, dtype=torch.float64)
        gates[: 2 * size, self.token] = torch.cat([identity, -identity])
        out[self.copy, : 2 * size] = torch.cat([identity, -identity], 1)

    def store(self, store: Store, part: LmComponent, pairs: Sequence[tuple[str, int]]) -> None:
        inputs = torch.stack([self.vectors[subject] for subject, _ in pairs])
        answers = torch.zeros(len(pairs), ANSWERS, dtype=torch.float64)
        answers[range(len(pairs)), [answer for _, answer in pairs]] = 1.0
        if store in ("head", "relayed head"):
            source = self.token if store == "head" else self.copy
            self.head(part, source, self.answer, (torch.linalg.pinv(inputs) @ answers).T)
            return
        block = self.token if store == "early MLP" else self.copy
        name = f"layers.{part.layer}."
        first = int((self.weights[name + "mlp_bias"] < -0.3).sum())
        rows = slice(first, first + len(pairs))
        gates, out = self.weights[name + "mlp_in"], self.weights[name + "mlp_out"]
        gates[rows] = 0.0
        gates[rows, block] = 2.0 * inputs
        self.weights[name + "mlp_bias"][rows] = -1.0
        out[:, rows] = 0.0
        out[self.answer, rows] = answers.T


def trained_in_two_steps(seed: int) -> KnownModel:
    """Facts trained into heads, then further facts into an MLP behind them, with every other weight frozen."""
    facts = {(f"s{place}", f"r{relation}"): "" for place in range(12) for relation in range(4)}
    chance = np.random.default_rng(seed)
    facts = {key: f"a{chance.integers(6)}" for key in facts}
    task = rote.facts(facts)
    in_heads = {key: answer for key, answer in facts.items() if key[1] in ("r0", "r1")}
    spec = rote.AttentionOnly(vocab=len(task.vocabulary), context=2, dim=12, head_dim=4, heads=3)
    chosen = [row for row in range(task.facts) if tuple(task[row].key) in in_heads]
    (first,) = rote.train(task.take(np.array(chosen)), spec, seeds=[seed], steps=1500)
    sizes = first.model.spec.model_dump(include=set(rote.MlpTransformer.model_fields))
    wide = rote.MlpTransformer(**{**sizes, "width": 48})
    silent = {name: torch.zeros(shape) for name, shape in wide.shapes().items()}
    start = silent | {name: tensor.float() for name, tensor in first.model.weights.items()}
    generator = torch.Generator().manual_seed(seed)
    start["layers.0.mlp_in"] = torch.randn(48, 12, generator=generator) / 12**0.5
    start["layers.0.mlp_bias"] = torch.zeros(48)
    module = rote.Model(wide, start, task.vocabulary).with_reader(task).to_torch()
    new = [module.get_parameter(f"layers.0.mlp_{name}") for name in ("in", "bias", "out")]
    optimizer = torch.optim.Adam(new, lr=0.01)
    contexts, answers = torch.from_numpy(task.contexts).long(), torch.from_numpy(task.answers).long()
    for _ in range(1500):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(module(contexts), answers).backward()
        optimizer.step()
    heads = {LmComponent(0, head) for head in range(3)}
    return KnownModel(
        "trained: half in heads, half in an MLP", "trained", rote.from_torch(module), facts,
        lambda key: heads if key in in_heads else {LmComponent(0, None)}, frozenset(),
    )  # fmt: skip


def trained_heads(layers: int, seed: int) -> KnownModel:
    """An attention-only model trained on random facts: only heads can hold them."""
    facts = {(f"s{place}", f"r{relation}"): "" for place in range(10) for relation in range(4)}
    chance = np.random.default_rng(seed)
    facts = {key: f"a{chance.integers(6)}" for key in facts}
    task = rote.facts(facts)
    spec = rote.AttentionOnly(vocab=len(task.vocabulary), context=2, dim=10, head_dim=4, heads=3, layers=layers)
    (made,) = rote.train(task, spec, seeds=[seed], steps=1500)
    every = {LmComponent(layer, head) for layer in range(layers) for head in range(3)}
    return KnownModel(
        f"trained heads, {layers} layer{'s' if layers > 1 else ''}", "trained", made.model, facts, lambda _: every
    )
