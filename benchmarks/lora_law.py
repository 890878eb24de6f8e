"""Low-rank adapters beside one late MLP of SmolLM2-135M, and made-up phone numbers: docs/language_models.md.

    python benchmarks/lora_law.py law -o FOLDER          ranks 1 to 64; 50 to 400 numbers; resumes
    python benchmarks/lora_law.py capacity -o FOLDER     ranks 1 to 8, loads around capacity, longer; resumes
    python benchmarks/lora_law.py fit -o FOLDER          tables and figures of the cells that ended

A fact is a name of two words and ten random digits ("Walter Bishop:9100672710"). The adapter is that of the released
code of Xu et al. (2605.30260): a map B A from the normalised state to the residual, beside the MLP of one layer, with
2 x 576 numbers per rank. B A is multiplied by the ratio of the typical sizes of the two. States below that layer are
computed once. The base is in bfloat16, A and B are kept in float32 and rounded where they are used. Costs are those of
a digit among the ten digits: the format is given, not learned. Batches of ten numbers, as there.

The rate, the batch and the layer were chosen on seed 99. The rule of the verdict was fixed before the runs: the law is
supported at this scale if its R^2 is at least 0.98 on all cells, and if it predicts the cells of the largest length,
fitted on the others, with a mean absolute error of at most 10 %.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.optimize import least_squares
from torch import Tensor, nn

from real_weights import smollm2
from rote.charts import ChartSeries, Mark, XYChart, shape, tones
from rote.charts.drawing import write_chart
from rote.lm.language_model import LanguageModel
from rote.lm.loading import load_language_model
from rote.training.protocol import learning_rates

LAYER = 28
DIGITS, BATCH, AT_ONCE, WARMUP = 10, 10, 250, 0.05
RATE = 1e-2
MOST = 400
SEEDS = (1, 2)
LAW_RANKS, LAW_NUMBERS, LAW_PASSES = (1, 4, 16, 64), (50, 100, 200, 400), 100
CAPACITY_RANKS, CAPACITY_LOADS, CAPACITY_PASSES = (1, 2, 4, 8), (25, 50, 100), 400
"""Loads are numbers per rank: 50 numbers are 1,661 bits, 1.44 for each of 1,152 parameters."""
TITLE = "A power of rank and length does not fit: the loss ends at zero"


@dataclass(frozen=True)
class Cell:
    """One adapter, trained and measured."""

    rank: int
    numbers: int
    passes: int
    seed: int
    rate: float = RATE
    layer: int = LAYER

    @property
    def key(self) -> str:
        return f"{self.layer}-{self.rank}-{self.numbers}-{self.passes}-{self.rate:g}-{self.seed}"


class Late:
    """SmolLM2 from one layer on; states below it are computed once per seed."""

    def __init__(self, layer: int, seed: int, most: int = MOST) -> None:
        model = load_language_model(smollm2(), dtype="bfloat16")
        module: Any = model.module.requires_grad_(False)
        core = module.model
        self.upper, self.norm = core.layers[layer + 1 :], core.norm
        names, digits, symbols = phone_book(model, most, seed)
        self.symbols = digits
        self.head: Tensor = module.lm_head.weight[symbols]
        ids = torch.cat([names, symbols[digits[:, :-1]]], 1)
        self.first = names.shape[1] - 1
        self.rotary = core.rotary_emb(self.head, torch.arange(ids.shape[1])[None])
        self.inputs, self.outputs = self._below(core, layer, ids)
        self.inputs[:, 0] = 0.0
        sizes = [part[:, 1:].float().pow(2).mean().sqrt() for part in (self.outputs, self.inputs)]
        self.scale = float(sizes[0] / sizes[1])

    def _below(self, core: Any, layer: int, ids: Tensor) -> tuple[Tensor, Tensor]:
        """What the MLP of the layer reads, and what the layer writes."""
        read: list[Tensor] = []
        written: list[Tensor] = []
        handles = [
            core.layers[layer].mlp.register_forward_pre_hook(lambda part, given: read.append(given[0])),
            core.layers[layer].register_forward_hook(
                lambda part, given, out: written.append(out[0] if isinstance(out, tuple) else out)
            ),
        ]
        with torch.no_grad():
            for part in ids.split(128):
                core(input_ids=part, use_cache=False)
        for handle in handles:
            handle.remove()
        return torch.cat(read), torch.cat(written)

    def costs(self, a: Tensor, b: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Nats of every digit of these numbers, and whether it is the likeliest."""
        states = self.inputs[rows]
        low = states @ a.to(states.dtype).T @ (self.scale * b).to(states.dtype).T
        states = self.outputs[rows] + low
        for layer in self.upper:
            out = layer(states, position_embeddings=self.rotary)
            states = out[0] if isinstance(out, tuple) else out
        logits = (self.norm(states[:, self.first :]) @ self.head.T).float()
        wanted = self.symbols[rows]
        costs = nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none")
        return costs.view(wanted.shape), logits.argmax(-1) == wanted

    @torch.no_grad()
    def measured(self, a: Tensor, b: Tensor, numbers: int) -> dict[str, float]:
        found = [self.costs(a, b, rows) for rows in torch.arange(numbers).split(AT_ONCE)]
        costs, right = (torch.cat(parts) for parts in zip(*found, strict=True))
        return {
            "loss": float(costs.double().mean()), "digits_right": float(right.double().mean()),
            "numbers_right": int(right.all(1).sum()),
        }  # fmt: skip

    def run(self, cell: Cell) -> dict[str, Any]:
        torch.manual_seed(cell.seed)
        width = self.inputs.shape[-1]
        a = nn.Parameter(torch.randn(cell.rank, width) / math.sqrt(width))
        b = nn.Parameter(torch.zeros(width, cell.rank))
        before = self.measured(a, b, cell.numbers)["loss"]
        optimizer = torch.optim.Adam([a, b], lr=cell.rate, betas=(0.9, 0.95))
        parts = math.ceil(cell.numbers / BATCH)
        steps = cell.passes * parts
        rates = learning_rates("cosine", steps, cell.rate, 0.0, WARMUP, steps)
        rows: list[Tensor] = []
        for rate in rates:
            rows = rows or list(torch.randperm(cell.numbers).split(math.ceil(cell.numbers / parts)))
            optimizer.param_groups[0]["lr"] = float(rate)
            optimizer.zero_grad()
            self.costs(a, b, rows.pop())[0].mean().backward()
            optimizer.step()
        after = self.measured(a, b, cell.numbers)
        tokens, parameters = DIGITS * cell.numbers, 2 * width * cell.rank
        held = tokens * (math.log2(10) - after["loss"] / math.log(2))
        return {
            "before": before, **after, "tokens": tokens, "parameters": parameters,
            "effective": parameters - cell.rank**2, "held_bits": held, "bits_per_parameter": held / parameters,
        }  # fmt: skip


def phone_book(model: LanguageModel, numbers: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens of names and their colon, digits as numbers, and the tokens of the ten digits."""
    tokenizer = model.tokenizer
    words = sorted(word for word in tokenizer.get_vocab() if re.fullmatch("Ġ[A-Z][a-z]{3,}", word))
    tokens = torch.tensor(tokenizer.convert_tokens_to_ids(words))
    rng = np.random.default_rng([seed, 0x9B00C])
    pairs = rng.choice(len(words) ** 2, numbers, replace=False)
    colon, symbols = (tokenizer.convert_tokens_to_ids(list(text)) for text in (":", "0123456789"))
    names = torch.stack([tokens[pairs // len(words)], tokens[pairs % len(words)]], 1)
    start = torch.full((numbers, 1), tokenizer.bos_token_id)
    names = torch.cat([start, names, torch.full((numbers, 1), colon[0])], 1)
    return names, torch.from_numpy(rng.integers(10, size=(numbers, DIGITS))), torch.tensor(symbols)


class Kept:
    """Cells that ended, one line each."""

    def __init__(self, file: Path) -> None:
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text().splitlines() if file.exists() else []
        self.rows: dict[str, dict[str, Any]] = {row["key"]: row for row in map(json.loads, lines)}
        self._late: dict[tuple[int, int], Late] = {}

    def run(self, cells: list[Cell]) -> None:
        for cell in cells:
            if cell.key in self.rows:
                continue
            place = (cell.layer, cell.seed)
            if place not in self._late:
                self._late = {place: Late(*place)}
            began = time.process_time()
            found = self._late[place].run(cell)
            row = {"key": cell.key, **cell.__dict__, **found, "cpu_seconds": time.process_time() - began}
            self.rows[cell.key] = row
            with self._file.open("a") as opened:
                opened.write(json.dumps(row) + "\n")
            print(
                f"rank {cell.rank}, {cell.numbers} numbers, {cell.passes} passes, layer {cell.layer}, rate "
                f"{cell.rate:g}, seed {cell.seed}: {row['before']:.3f} to {row['loss']:.3f} nats, "
                f"{row['numbers_right']} right, {row['bits_per_parameter']:.2f} bits per parameter, "
                f"{row['cpu_seconds']:.0f} s",
                flush=True,
            )


@dataclass(frozen=True)
class Fit:
    """A curve for the loss reduction, fitted by least squares."""

    name: str
    values: tuple[float, ...]
    r_squared: float
    intervals: tuple[tuple[float, float], ...] = ()


Curve = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def power_law(values: np.ndarray, ranks: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """C r^a l^-b + b0, the law of the paper; tokens in thousands."""
    scale, rank_power, length_power, base = values
    return scale * ranks**rank_power * tokens**-length_power + base


def saturating(values: np.ndarray, ranks: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """The same power of rank and length, which ends at what there is to learn: L0 (1 - exp(-C r^a l^-b))."""
    scale, rank_power, length_power, most = values
    return most * -np.expm1(-scale * ranks**rank_power * tokens**-length_power)


CURVES: dict[str, tuple[Curve, tuple[float, ...]]] = {
    "power law": (power_law, (0.5, 0.5, 0.5, 0.0)),
    "saturating": (saturating, (0.5, 0.5, 0.5, 2.3)),
}
RESAMPLED = 500


def fitted(name: str, rows: list[dict[str, Any]], resampled: int = 0) -> Fit:
    curve, start = CURVES[name]
    ranks, tokens, gains = points(rows)

    def solve(kept: np.ndarray) -> np.ndarray:
        def missing(values: np.ndarray) -> np.ndarray:
            return curve(values, ranks[kept], tokens[kept]) - gains[kept]

        return least_squares(missing, start, max_nfev=2000).x

    values = solve(np.arange(len(gains)))
    left = curve(values, ranks, tokens) - gains
    r_squared = 1 - float(left @ left) / float(((gains - gains.mean()) ** 2).sum())
    chance = np.random.default_rng(0)
    drawn = [solve(chance.integers(len(gains), size=len(gains))) for _ in range(resampled)]
    ends = np.quantile(drawn, (0.025, 0.975), 0).T if drawn else []
    return Fit(name, tuple(map(float, values)), r_squared, tuple((float(low), float(high)) for low, high in ends))


def points(rows: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranks, thousands of tokens, and by how much the loss fell."""
    found = [(row["rank"], row["tokens"] / 1000, row["before"] - row["loss"]) for row in rows]
    ranks, tokens, gains = np.array(found, dtype=float).T
    return ranks, tokens, gains


def error_on(fit: Fit, rows: list[dict[str, Any]]) -> float:
    """Mean absolute error in the loss reduction, as a share of it."""
    ranks, tokens, gains = points(rows)
    return float(np.abs(CURVES[fit.name][0](np.array(fit.values), ranks, tokens) / gains - 1).mean())


def law_page(rows: list[dict[str, Any]]) -> str:
    longest, widest = (max(row[name] for row in rows) for name in ("numbers", "rank"))
    parts = {
        f"{longest} numbers": [row for row in rows if row["numbers"] == longest],
        f"rank {widest}": [row for row in rows if row["rank"] == widest],
    }
    lines = ["| curve | C | a | b | b0 or L0 | R^2 | " + " | ".join(f"error on {name}" for name in parts) + " |"]
    lines.append("|---|---:|---:|---:|---:|---:|" + "---:|" * len(parts))
    for name in CURVES:
        fit = fitted(name, rows, RESAMPLED)
        cells = [
            f"{value:.2f} ({low:.2f} to {high:.2f})"
            for value, (low, high) in zip(fit.values, fit.intervals, strict=True)
        ]
        errors = [
            f"{error_on(fitted(name, [row for row in rows if row not in held]), held):.0%}" for held in parts.values()
        ]
        lines.append(f"| {name} | " + " | ".join([*cells, f"{fit.r_squared:.3f}", *errors]) + " |")
    return "\n".join(lines) + "\n"


def law_figure(rows: list[dict[str, Any]], title: str) -> XYChart:
    fit = fitted("power law", rows)
    grid = np.geomspace(1, max(row["rank"] for row in rows), 40)
    series = []
    lengths = sorted({row["numbers"] for row in rows})
    for place, (numbers, tone) in enumerate(zip(lengths, tones(len(lengths)), strict=True)):
        own = [row for row in rows if row["numbers"] == numbers]
        marks = [Mark(row["rank"], row["before"] - row["loss"]) for row in own]
        tokens = DIGITS * numbers
        curve = power_law(np.array(fit.values), grid, np.full(len(grid), tokens / 1000))
        line = [Mark(float(rank), float(value)) for rank, value in zip(grid, curve, strict=True)]
        series += [
            ChartSeries(f"{tokens:,} digits", marks, "points", tone, shape=shape(place)),
            ChartSeries(f"fit, {tokens:,}", line, "dashed", tone, in_legend=False),
        ]
    return XYChart(title, "rank r", "loss reduction, nats per digit", series, log_x=True)


def capacity_page(rows: list[dict[str, Any]]) -> str:
    lines = ["| rank | adapter parameters | numbers | offered | passes | seed | held | numbers right |"]
    lines.append("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for row in sorted(rows, key=lambda row: (row["rank"], row["numbers"], row["passes"], row["seed"])):
        offered = row["tokens"] * math.log2(10) / row["parameters"]
        lines.append(
            f"| {row['rank']} | {row['parameters']:,} | {row['numbers']} | {offered:.2f} | {row['passes']} | "
            f"{row['seed']} | {row['bits_per_parameter']:.2f} | {row['numbers_right']} of {row['numbers']} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=["law", "capacity", "fit"])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--rank", type=int, action="append", default=[])
    parser.add_argument("--numbers", type=int, action="append", default=[])
    parser.add_argument("--passes", type=int)
    parser.add_argument("--seed", type=int, action="append", default=[])
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--layer", type=int, default=LAYER)
    given = parser.parse_args()
    torch.set_num_threads(1)
    kept = Kept(given.output / "cells.jsonl")
    law = given.part == "law"
    ranks = given.rank or (LAW_RANKS if law else CAPACITY_RANKS)
    passes = given.passes or (LAW_PASSES if law else CAPACITY_PASSES)
    sizes = given.numbers or (LAW_NUMBERS if law else CAPACITY_LOADS)
    if given.part != "fit":
        kept.run([
            Cell(rank, size if law else size * rank, passes, seed, given.rate, given.layer)
            for seed in given.seed or SEEDS for size in sizes for rank in ranks
        ])  # fmt: skip
    reported = [row for row in kept.rows.values() if row["seed"] in SEEDS and row["rate"] == RATE]
    cells = [row for row in reported if row["passes"] == LAW_PASSES and row["numbers"] in LAW_NUMBERS]
    if len(cells) > 6:
        print(law_page(cells))
        write_chart(law_figure(cells, TITLE), given.output / "lora_law.png")
    print(capacity_page(reported))


if __name__ == "__main__":
    main()
