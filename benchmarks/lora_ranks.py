"""`rote lm plan` against trained LoRAs, on all 987 country facts: docs/graft.md, "Compared with fine-tuning".

    python benchmarks/lora_ranks.py -o FOLDER --rank 1 --rank 8 --rank 64            one row per rank; resumes

SmolLM2-135M in bfloat16, four relations with one template each (the first that comes with the table). A and B of all
matrices are kept in float32 and rounded to bfloat16 where they are used. Adam's rate (0.001) is the one that was fixed
for 60 capitals; it falls linearly over the passes (`--passes`, 12 by default) and stays as it is with `--constant`.
A fact whose every token has a probability above 0.9 is left out of the next two passes. Training ends when every fact
was right when it was last read, or after these passes. Paraphrases are `NEAR` of graft.py; no setting was chosen on
them.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

import rote
from graft import NEAR
from graft_study import LORA_RATE, PASSAGES, SEED, answer_logits
from real_weights import smollm2
from rote.charts import ChartSeries, Mark, XYChart, shape, tones
from rote.charts.drawing import write_chart
from rote.lm.graft.adapter import drift_on
from rote.lm.graft.graft import read_table
from rote.lm.graft.sentences import Sentence, sentences
from rote.lm.graft.text import control_text
from rote.lm.language_model import LanguageModel
from rote.lm.loading import load_language_model
from rote.lm.lora import adapt, effective_parameters, matrices_of
from rote.lm.plan import RANKS, verdict_of
from rote.lm.questions import COUNTRIES, in_words, parse_template
from rote.progress import SILENT

TITLE = "Higher ranks recall more after 12 passes, and change more of other text"
TEMPLATES = {relation: texts[0] for relation, texts in COUNTRIES.items()}
PASSES, TOKENS_AT_ONCE = 12, 256
SURE, REST = 0.9, 2
"""A fact whose every token has a probability above `SURE` is left out of the next `REST` passes."""


class Countries:
    """The facts, the questions and what the original model says."""

    def __init__(self) -> None:
        self.facts = read_table(rote.facts("countries", keys="words"), None)
        self.original = self.fresh()
        self.given = self.asked({relation: [text] for relation, text in TEMPLATES.items()})
        self.rephrased = self.asked(NEAR)
        self.control = control_text(self.original, None).held_out[:PASSAGES]
        with torch.inference_mode():
            module = self.original.module
            self.before = [module(input_ids=part, use_cache=False).logits for part in self.control.split(4)]

    @staticmethod
    def fresh() -> LanguageModel:
        return load_language_model(smollm2(), dtype="bfloat16")

    def asked(self, words: dict[str, list[str]]) -> list[Sentence]:
        table = in_words(self.facts)
        parsed = {
            relation: [parse_template(text, table.columns) for text in texts] for relation, texts in words.items()
        }
        return sentences(self.original, table, parsed, ".")

    @torch.inference_mode()
    def measured(self, model: LanguageModel) -> dict[str, Any]:
        with SILENT.stage("measuring") as stage:
            right, rephrased = every_token_right(model, self.given), every_token_right(model, self.rephrased)
            drift = drift_on(model.module, self.control, self.before, stage)
        said: dict[str, list[int]] = {}
        for sentence, ok in zip(self.rephrased, rephrased, strict=True):
            seen = said.setdefault(sentence.template, [0, 0])
            seen[0] += ok
            seen[1] += 1
        return {
            "facts": len(self.given), "right": sum(right), "near": sum(rephrased), "near_asked": len(rephrased),
            "paraphrases": said, "tokens": self.control.numel(), "tokens_changed": drift["control_changed"].seen,
            "divergence": drift["control_divergence"], "perplexity": drift["control_perplexity"],
        }  # fmt: skip


def every_token_right(model: LanguageModel, asked: list[Sentence]) -> list[bool]:
    """Whether each token of the answer is the likeliest after those before it, which is what greedy decoding says."""
    found = [False] * len(asked)
    for batch in alike(asked, list(range(len(asked))), 1024):
        logits, wanted = answer_logits(model.module, [asked[place] for place in batch])
        sizes = [len(asked[place].answer) for place in batch]
        for place, right in zip(batch, (logits.argmax(-1) == wanted).split(sizes), strict=True):
            found[place] = bool(right.all())
    return found


def planned(study: Countries) -> dict[str, Any]:
    """What `rote lm plan --relation R --template T` says, its bits summed over the relations."""
    known, bits = 0, 0.0
    for relation, text in TEMPLATES.items():
        plan = rote.lm_plan(study.original, "countries", [text], relation=relation, ranks=RANKS)
        known, bits = known + plan.known, bits + plan.new_bits
    shapes = list(matrices_of(study.original.module, "all").values())
    densities = {str(rank): bits / effective_parameters(shapes, rank) for rank in RANKS}
    verdicts = {rank: verdict_of(density) for rank, density in densities.items()}
    return {"known": known, "new_bits": bits, "bits_per_parameter": densities, "verdicts": verdicts}


def alike(given: list[Sentence], due: list[int], tokens: int = TOKENS_AT_ONCE) -> list[list[int]]:
    """Numbers of the sentences that are due, those of one length together, in small batches and random order."""
    lengths: dict[int, list[int]] = {}
    for place in torch.randperm(len(due)).tolist():
        lengths.setdefault(len(given[due[place]].tokens), []).append(due[place])
    batches = [
        group[start : start + max(1, tokens // length)]
        for length, group in lengths.items()
        for start in range(0, len(group), max(1, tokens // length))
    ]
    return [batches[place] for place in torch.randperm(len(batches)).tolist()]


def trained(
    model: LanguageModel, given: list[Sentence], own: list[nn.Parameter], passes: int, constant: bool
) -> tuple[int, float]:
    """Train on the answers until every fact is right when it was last read: passes, and readings per fact."""
    torch.manual_seed(SEED)
    optimizer = torch.optim.Adam(own, lr=LORA_RATE)
    wrong, rest, readings, number = set(range(len(given))), [0] * len(given), 0, 0
    for number in range(1, passes + 1):
        if not constant:
            optimizer.param_groups[0]["lr"] = LORA_RATE * (1 - (number - 1) / passes)
        due = [fact for fact in range(len(given)) if not rest[fact]]
        rest = [max(0, left - 1) for left in rest]
        for batch in alike(given, due):
            logits, wanted = answer_logits(model.module, [given[fact] for fact in batch])
            costs = nn.functional.cross_entropy(logits.float(), wanted, reduction="none")
            optimizer.zero_grad()
            costs.mean().backward()
            optimizer.step()
            sizes = [len(given[fact].answer) for fact in batch]
            parts = zip(batch, costs.detach().split(sizes), (logits.argmax(-1) != wanted).split(sizes), strict=True)
            for fact, cost, missed in parts:
                (wrong.add if bool(missed.any()) else wrong.discard)(fact)
                rest[fact] = REST if float(cost.max()) < -math.log(SURE) else 0
        readings += len(due)
        print(f"  pass {number}: {len(due)} read, {len(wrong)} wrong, {time.process_time():.0f} CPU s", flush=True)
        if not wrong:
            break
    return number, readings / len(given)


def by_rank(study: Countries, rank: int, most: int, constant: bool) -> dict[str, Any]:
    model = study.fresh()
    torch.manual_seed(rank)
    adapters = adapt(model.module, rank, dtype=torch.float32)
    own = [parameter for part in adapters.values() for parameter in (part.lora_A, part.lora_B)]
    began = time.process_time()
    passes, readings = trained(model, study.given, own, most, constant)
    spent = time.process_time() - began
    return {
        "rate": "constant" if constant else "falling", "passes": passes, "readings": readings,
        "parameters": sum(one.numel() for one in own),
        "training_seconds": spent, **study.measured(model),
    }  # fmt: skip


def page(rows: dict[str, dict[str, Any]]) -> str:
    plan = rows["plan"]
    lines = [
        "| rank | LoRA parameters | new bits per parameter | plan | facts right | paraphrases right | next tokens of "
        "other text changed | KL, nats per token | passes | readings per fact | CPU s |",
        "|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        if name != "plan":
            rank = name.partition(",")[0]
            density = plan["bits_per_parameter"].get(rank)
            lines.append(
                f"| {name} | {row.get('parameters', 0):,} | {f'{density:.2g}' if density else '-'} | "
                f"{plan['verdicts'].get(rank, '-')} | {row['right']} of {row['facts']} | {row['near']:,} of "
                f"{row['near_asked']:,} ({row['near'] / row['near_asked']:.2f}) | "
                f"{row['tokens_changed'] / row['tokens']:.2f} | {row['divergence']:.2g} | {row.get('passes', '-')} | "
                f"{row.get('readings', 0):.1f} | "
                f"{row.get('training_seconds', 0):.0f} |"
            )
    return "\n".join(lines) + "\n"


def figure(rows: dict[str, dict[str, Any]], title: str) -> XYChart:
    measures = {
        "facts right": lambda row: row["right"] / row["facts"],
        "nearby paraphrases right": lambda row: row["near"] / row["near_asked"],
        "next tokens of other text kept": lambda row: 1 - row["tokens_changed"] / row["tokens"],
    }
    named = sorted((int(name), row) for name, row in rows.items() if name.isdigit())
    series = [
        ChartSeries(name, [Mark(rank, of(row)) for rank, row in named], "joined", tone, shape=shape(place))
        for place, ((name, of), tone) in enumerate(zip(measures.items(), tones(len(measures)), strict=True))
    ]
    return XYChart(title, "LoRA rank", "share (1 is best)", series, log_x=True, y_range=(0, 1.02))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--rank", type=int, action="append", default=[])
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--constant", action="store_true", help="keep Adam's rate as it is")
    given = parser.parse_args()
    folder = given.output
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "ranks.jsonl"
    rows = dict(json.loads(line) for line in file.read_text().splitlines()) if file.exists() else {}
    study = Countries()
    routes: dict[str, Callable[[], dict[str, Any]]] = {
        "plan": lambda: planned(study),
        "original": lambda: study.measured(study.original),
        **{
            f"{rank}{', constant rate' * given.constant}": lambda rank=rank: by_rank(
                study, rank, given.passes, given.constant
            )
            for rank in given.rank or RANKS
        },
    }
    for name, route in routes.items():
        if name not in rows:
            before = time.process_time()
            rows[name] = route() | {"cpu_seconds": time.process_time() - before}
            with file.open("a") as opened:
                opened.write(json.dumps([name, rows[name]]) + "\n")
            print(name, rows[name], flush=True)
    (folder / "ranks.md").write_text(page(rows))
    write_chart(figure(rows, TITLE), folder / "lora_ranks.png")
    print(page(rows))


if __name__ == "__main__":
    main()
