"""One table in one language model by six routes: docs/graft.md, "Compared with fine-tuning".

    python benchmarks/graft_study.py -o FOLDER            about half an hour of one core; resumes

60 of the 244 capitals of `countries`, one template, SmolLM2-135M in float32. Every route is measured in the same way:
complete answers generated greedily under the template and under two paraphrases, the next token after the same words
about the other 184 countries, which were never stored, and the drift on held-out text. Adam's learning rates were fixed
beforehand (0.001 for adapters, 0.00005 for all weights); training ends when every token of every answer is right.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import rote
from real_weights import smollm2
from rote.charts import HeatMap
from rote.charts.drawing import write_chart
from rote.lm.graft.adapter import WEIGHTS, drift_on
from rote.lm.graft.examination import answered
from rote.lm.graft.graft import read_table
from rote.lm.graft.host import host_of
from rote.lm.graft.layers import alike_in_length
from rote.lm.graft.sentences import Sentence, sentences
from rote.lm.graft.text import control_text
from rote.lm.language_model import LanguageModel
from rote.lm.loading import load_language_model
from rote.lm.lora import adapt
from rote.lm.questions import QuestionTable, in_words, parse_template
from rote.progress import SILENT
from rote.tasks import AssociationTask

TEMPLATE = "The capital of {country} is"
PARAPHRASES = ("The capital city of {country} is called", "The name of the capital of {country} is")
STORED, SEED = 60, 1
PASSAGES = 40
RANKS = (1, 8, 64)
LORA_RATE, FULL_RATE, EPOCHS = 1e-3, 5e-5, 60


class Study:
    """The facts, the questions and what the original model says."""

    def __init__(self) -> None:
        table = read_table(rote.facts("countries", keys="words"), "capital")
        order = np.random.default_rng(SEED).permutation(table.facts)
        self.stored, self.other = table.take(np.sort(order[:STORED])), table.take(np.sort(order[STORED:]))
        self.original = self.fresh()
        self.given = self.asked(self.stored, TEMPLATE)
        self.rephrased = {text: self.asked(self.stored, text) for text in PARAPHRASES}
        self.never = [sentence.prompt for sentence in self.asked(self.other, TEMPLATE)]
        self.control = control_text(self.original, None).held_out[:PASSAGES]
        with torch.inference_mode():
            module = self.original.module
            self.before = [module(input_ids=part, use_cache=False).logits for part in self.control.split(4)]
            self.next = self.next_tokens(self.original)

    @staticmethod
    def fresh() -> LanguageModel:
        return load_language_model(smollm2(), dtype="float32")

    def asked(self, task: AssociationTask, text: str) -> list[Sentence]:
        table: QuestionTable = in_words(task)
        model = self.original
        return sentences(model, table, {"capital": [parse_template(text, table.columns)]}, ".")

    def next_tokens(self, model: LanguageModel) -> list[int]:
        return [int(model.module(input_ids=torch.tensor([list(p)])).logits[0, -1].argmax()) for p in self.never]

    @torch.inference_mode()
    def measured(self, model: LanguageModel) -> dict[str, Any]:
        with SILENT.stage("measuring") as stage:
            right = sum(answered(model, self.given, stage))
            said = {text: sum(answered(model, asked, stage)) for text, asked in self.rephrased.items()}
            drift = drift_on(model.module, self.control, self.before, stage)
        changed = sum(one != other for one, other in zip(self.next, self.next_tokens(model), strict=True))
        return {
            "facts": len(self.given), "right": right, "paraphrases": said, "never": len(self.never),
            "never_changed": changed, "tokens": self.control.numel(), "tokens_changed": drift["control_changed"].seen,
            "divergence": drift["control_divergence"], "perplexity": drift["control_perplexity"],
        }  # fmt: skip


def answer_logits(module: Any, batch: list[Sentence]) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits where the tokens of answers are predicted, in sentences of one length; and those tokens."""
    ids = torch.tensor([sentence.tokens for sentence in batch])
    own = torch.zeros_like(ids, dtype=torch.bool)
    for row, sentence in enumerate(batch):
        own[row, len(sentence.prompt) :] = True
    states = module.base_model(input_ids=ids, use_cache=False).last_hidden_state
    return module.get_output_embeddings()(states[:, :-1][own[:, 1:]]), ids[:, 1:][own[:, 1:]]


def trained(model: LanguageModel, given: list[Sentence], parameters: Iterable[nn.Parameter], rate: float) -> int:
    """Train until every token is right, on the answers alone; how many times each fact was shown."""
    torch.manual_seed(SEED)
    optimizer = torch.optim.Adam(parameters, lr=rate)
    batches = alike_in_length(given)
    for epoch in range(1, EPOCHS + 1):
        right = True
        for number in torch.randperm(len(batches)).tolist():
            logits, wanted = answer_logits(model.module, batches[number])
            right = right and bool((logits.argmax(-1) == wanted).all())
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits, wanted).backward()
            optimizer.step()
        print(f"  {epoch} epochs, all right: {right}", flush=True)
        if right:
            return epoch
    return EPOCHS


def by_lora(study: Study, rank: int) -> dict[str, Any]:
    model = study.fresh()
    adapters = adapt(model.module, rank)
    own = [parameter for part in adapters.values() for parameter in (part.lora_A, part.lora_B)]
    epochs = trained(model, study.given, own, LORA_RATE)
    return {"epochs": epochs, "bytes": 4 * sum(one.numel() for one in own), **study.measured(model)}


def by_all_weights(study: Study) -> dict[str, Any]:
    model = study.fresh()
    module = model.module.requires_grad_(True)
    epochs = trained(model, study.given, module.parameters(), FULL_RATE)
    return {"epochs": epochs, "bytes": 4 * sum(one.numel() for one in module.parameters()), **study.measured(model)}


def by_graft(study: Study, folder: Path) -> dict[str, Any]:
    shutil.rmtree(folder, ignore_errors=True)
    # A paraphrase that is named is no rewording of the solve.
    words = {"templates": {"capital": [TEMPLATE]}, "paraphrases": {"capital": list(PARAPHRASES)}}
    made = rote.graft(smollm2(), study.stored, output=folder, dtype="float32", **words)
    return {"bytes": 4 * made.record.added_parameters, **study.measured(load_language_model(folder, dtype="float32"))}


def by_exact_lora(study: Study, folder: Path) -> dict[str, Any]:
    shutil.rmtree(folder, ignore_errors=True)
    rote.graft_adapter(smollm2(), study.stored, {"capital": [TEMPLATE]}, output=folder)
    from safetensors.torch import load_file

    factors = list(load_file(folder / WEIGHTS).values())
    a, b = sorted(factors, key=lambda one: one.shape[0] > one.shape[1])
    model = study.fresh()
    matrix = model.module.get_submodule(host_of(model).down_projection).weight
    with torch.no_grad():
        matrix += b @ a
    return {"rank": len(a), "bytes": 4 * (a.numel() + b.numel()), **study.measured(model)}


def planned(study: Study) -> dict[str, Any]:
    """What `rote lm plan` says of these facts and ranks."""
    plan = rote.lm_plan(study.original, study.stored, [TEMPLATE], ranks=RANKS)
    ranks = {str(one.rank): [one.bits_per_parameter, one.verdict] for one in plan.ranks}
    return {"known": plan.known, "new_bits": plan.new_bits, "ranks": ranks}


def page(rows: dict[str, dict[str, Any]]) -> str:
    lines = [
        "| | facts right | paraphrases right | never-stored countries with another next token | KL, nats per token | "
        "shown | bytes | CPU s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        if name != "plan":
            said = row["paraphrases"].values()
            lines.append(
                f"| {name} | {row['right']} of {row['facts']} | {sum(said)} of {len(said) * row['facts']} | "
                f"{row['never_changed']} of {row['never']} | {row['divergence']:.2g} | {row.get('epochs', '-')} | "
                f"{row.get('bytes', 0):,} | {row['cpu_seconds']:.0f} |"
            )
    return "\n".join(lines) + "\n"


def figure(rows: dict[str, dict[str, Any]], title: str) -> HeatMap:
    named = {name: row for name, row in rows.items() if name != "plan"}
    measures = ["facts right", "paraphrases right", "other countries kept", "other text kept"]
    values = [
        [
            row["right"] / row["facts"],
            sum(row["paraphrases"].values()) / (len(PARAPHRASES) * row["facts"]),
            1 - row["never_changed"] / row["never"],
            1 - row["tokens_changed"] / row["tokens"],
        ]
        for row in named.values()
    ]
    return HeatMap(title, "share (1 is best)", "route", measures, list(named), values, high=1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    folder = parser.parse_args().output
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "study.jsonl"
    rows = dict(json.loads(line) for line in file.read_text().splitlines()) if file.exists() else {}
    study = Study()
    routes: dict[str, Callable[[], dict[str, Any]]] = {
        "plan": lambda: planned(study),
        "original": lambda: study.measured(study.original),
        **{f"LoRA trained, rank {rank}": lambda rank=rank: by_lora(study, rank) for rank in RANKS},
        "all weights trained": lambda: by_all_weights(study),
        "LoRA in closed form": lambda: by_exact_lora(study, folder / "adapter"),
        "graft": lambda: by_graft(study, folder / "graft"),
    }
    for name, route in routes.items():
        if name not in rows:
            before = time.process_time()
            rows[name] = route() | {"cpu_seconds": time.process_time() - before}
            with file.open("a") as opened:
                opened.write(json.dumps([name, rows[name]]) + "\n")
            print(name, rows[name], flush=True)
    (folder / "study.md").write_text(page(rows))
    title = "Every route stores 60 facts; only the graft leaves other text as it was"
    write_chart(figure(rows, title), folder / "study.png")
    print(page(rows))


if __name__ == "__main__":
    main()
