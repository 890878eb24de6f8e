"""`rote.graft_adapter`: facts as a LoRA of one matrix in closed form, a folder that PEFT reads.

Nothing is trained. Unlike a graft it changes every token a little; the certificate says by how much.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict
from safetensors.torch import save_file
from torch import Tensor

from rote.arguments import typed
from rote.display import html_pairs
from rote.errors import InputError
from rote.folders.destination import FolderKind, check_destination, written_aside
from rote.lm.graft.down_projection import LowRank, check_recalled, exact_change, read_keys
from rote.lm.graft.examination import answered
from rote.lm.graft.examples import unknown_prompts
from rote.lm.graft.graft import Templates, chosen_wordings, read_table
from rote.lm.graft.host import Host, host_of
from rote.lm.graft.layers import margins_of
from rote.lm.graft.record import Asked
from rote.lm.graft.sentences import Sentence, sentences
from rote.lm.graft.text import control_text
from rote.lm.loading import load_language_model
from rote.lm.lora import Adapted
from rote.lm.questions import in_words
from rote.progress import SILENT, Progress, Stage
from rote.tasks.facts import Facts
from rote.version import __version__

CONFIG, WEIGHTS, RECORD = "adapter_config.json", "adapter_model.safetensors", "adapter.json"
ADAPTER_FOLDER = FolderKind("an adapter", (CONFIG, RECORD))


class AdapterCertificate(BaseModel):
    """What a model with the adapter does, by generating from text, greedily."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    facts: int
    recalled: int
    sentences: Asked
    before: Asked
    paraphrases: dict[str, Asked]
    never_stored: Asked
    """Prompts about subjects that are not in the table: at how many the likeliest next token is another one."""
    control_changed: Asked
    """Tokens of held-out text: at how many the likeliest next token is another one."""
    control_divergence: float
    """Mean KL divergence on held-out text, in nats per token."""
    control_perplexity: tuple[float, float]


class AdapterRecord(BaseModel):
    """`adapter.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    model: str
    matrix: str
    rank: int
    parameters: int
    exact: bool
    """Whether the change is complete, not truncated to a smaller rank."""
    certificate: AdapterCertificate


@dataclass(frozen=True)
class Adapter:
    """A closed-form LoRA on disk."""

    path: Path
    record: AdapterRecord
    seconds: float

    def _repr_html_(self) -> str:
        return html_pairs(f"adapter {self.path}", adapter_overview(self.record))


@typed
def graft_adapter(
    model: str | Path,
    task: Facts,
    templates: Templates = (),
    *,
    output: str | Path,
    paraphrases: Templates = (),
    relation: str | None = None,
    control: str | Path | None = None,
    end: str = ".",
    rank: int | None = None,
    gguf: str | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Adapter:
    """Store facts in the last down-projection of a language model, as a LoRA folder that PEFT reads.

    The change is exact: every answer token wins. It has at most as many answer tokens as the matrix has inputs. `rank`
    truncates it to a smaller LoRA, which may miss facts. `control` is the text that should change least.

    >>> import rote
    >>> rote.graft_adapter("smollm2", "countries", output="adapter")
    Traceback (most recent call last):
    rote.errors.InputError: smollm2: does not exist; give a Hugging Face folder or a GGUF file
    """
    began = time.perf_counter()
    path, folder = Path(model), Path(output)
    if not path.exists():
        raise InputError(f"{path}: does not exist; give a Hugging Face folder or a GGUF file")
    if rank is not None and rank < 1:
        raise InputError(f"`rank`: {rank} is no rank; give a whole number from 1")
    check_destination(folder, overwrite, ADAPTER_FOLDER)
    read = read_table(task, relation)
    table = in_words(read)
    chosen, held_out = chosen_wordings(read, table, templates, paraphrases)
    source = load_language_model(path, gguf=gguf, dtype="float32")
    host = host_of(source)
    text = control_text(source, None if control is None else Path(control))
    given = sentences(source, table, chosen, end)
    rephrased = sentences(source, table, held_out, end) if held_out else []
    found = read_keys(host, given, progress)
    change = exact_change(host, found, text.solved, rank, progress)
    unknown, _ = unknown_prompts(source, table, chosen, text)
    right = (margins_of(host, found.states, found.tokens) > 0).tolist()
    before = _all_right(right, given)
    certificate = _examine(host, change, given, before, rephrased, unknown, text.held_out, progress)
    check_recalled(certificate.recalled, certificate.facts, rank)
    record = AdapterRecord(
        version=__version__, model=path.name, matrix=host.down_projection, rank=len(change.a),
        parameters=change.a.numel() + change.b.numel(), exact=rank is None, certificate=certificate,
    )  # fmt: skip
    with written_aside(folder) as aside:
        _write(aside, path, host, change, record)
    return Adapter(folder, record, time.perf_counter() - began)


def adapter_overview(record: AdapterRecord) -> dict[str, Any]:
    """A record in a few lines."""
    seen = record.certificate
    pairs = {
        "facts answered right under every template": f"{seen.recalled:,} of {seen.facts:,}",
        "sentences right": f"{seen.sentences.seen:,} of {seen.sentences.asked:,}; {seen.before.seen:,} before",
    }
    if seen.paraphrases:
        asked, right = (sum(getattr(one, name) for one in seen.paraphrases.values()) for name in ("asked", "seen"))
        pairs["in words the solve never saw"] = f"{right:,} of {asked:,}"
    before, after = seen.control_perplexity
    return pairs | {
        "subjects never stored": f"another next token for {seen.never_stored.seen:,} of {seen.never_stored.asked:,}",
        "held-out text": f"another next token at {seen.control_changed.seen:,} of {seen.control_changed.asked:,}",
        "drift on it": f"KL {seen.control_divergence:.2g} nats per token, perplexity {before:.2f} to {after:.2f}",
        "LoRA": f"rank {record.rank} on {record.matrix}, {record.parameters:,} parameters",
    }


def _all_right(right: list[bool], given: list[Sentence]) -> list[bool]:
    """Sentences whose every token is right; tokens are in the order in which `read_keys` reads."""
    alike: dict[int, list[Sentence]] = {}
    for sentence in given:
        alike.setdefault(len(sentence.tokens), []).append(sentence)
    found, at = [], 0
    for sentence in (one for group in alike.values() for one in group):
        found.append(all(right[at : at + len(sentence.answer)]))
        at += len(sentence.answer)
    return found


@torch.inference_mode()
def _examine(
    host: Host,
    change: LowRank,
    given: list[Sentence],
    before: list[bool],
    rephrased: list[Sentence],
    unknown: list[list[int]],
    control: Tensor,
    progress: Progress,
) -> AdapterCertificate:
    model, module = host.model, host.model.module
    total = len(given) + len(rephrased) + len(unknown) + len(control)
    with progress.stage("generating with the adapter", total) as stage:
        plain = [_tops(module, torch.tensor([prompt])) for prompt in unknown]
        logits = [module(input_ids=part, use_cache=False).logits for part in control.split(4)]
        with with_change(host, change):
            right = answered(model, given, stage)
            by_text: dict[str, list[Sentence]] = {}
            for sentence in rephrased:
                by_text.setdefault(sentence.template, []).append(sentence)
            said = {text: answered(model, asked, stage) for text, asked in by_text.items()}
            other = [_tops(module, torch.tensor([prompt])) != top for prompt, top in zip(unknown, plain, strict=True)]
            drift = drift_on(module, control, logits, stage)
    missed = {sentence.fact for sentence, ok in zip(given, right, strict=True) if not ok}
    facts = len({sentence.fact for sentence in given})
    return AdapterCertificate(
        facts=facts, recalled=facts - len(missed), sentences=Asked(asked=len(right), seen=sum(right)),
        before=Asked(asked=len(before), seen=sum(before)),
        paraphrases={text: Asked(asked=len(found), seen=sum(found)) for text, found in said.items()},
        never_stored=Asked(asked=len(other), seen=sum(other)), **drift,
    )  # fmt: skip


def _tops(module: Any, ids: Tensor) -> int:
    return int(module(input_ids=ids, use_cache=False).logits[0, -1].argmax())


def drift_on(module: Any, control: Tensor, logits: list[Tensor], stage: Stage) -> dict[str, Any]:
    """How far a module is from the logits that another one had on the same passages, four at a time."""
    changed, divergence, costs = 0, 0.0, [0.0, 0.0]
    for ids, before in zip(control.split(4), logits, strict=True):
        after = module(input_ids=ids, use_cache=False).logits
        changed += int((before.argmax(-1) != after.argmax(-1)).sum())
        logs = [one.float().log_softmax(-1) for one in (before, after)]
        divergence += float((logs[0].exp() * (logs[0] - logs[1])).sum())
        for side, log in enumerate(logs):
            costs[side] -= float(log[:, :-1].gather(2, ids[:, 1:, None]).sum())
        stage.advance(len(ids))
    return {
        "control_changed": Asked(asked=control.numel(), seen=changed),
        "control_divergence": divergence / control.numel(),
        "control_perplexity": tuple(math.exp(cost / control[:, 1:].numel()) for cost in costs),
    }


class with_change:  # noqa: N801
    """The model with the adapter, while inside; computed as PEFT computes it: W x + B (A x)."""

    def __init__(self, host: Host, change: LowRank) -> None:
        above, _, self._last = host.down_projection.rpartition(".")
        self._parent: Any = host.model.module.get_submodule(above)
        self._change = change

    def __enter__(self) -> None:
        base: Any = getattr(self._parent, self._last)
        outputs, rank = self._change.b.shape
        part = Adapted(base, self._change.a.shape[1], outputs, rank)
        part.lora_A.data, part.lora_B.data = self._change.a, self._change.b
        setattr(self._parent, self._last, part)

    def __exit__(self, *ended: object) -> None:
        setattr(self._parent, self._last, getattr(self._parent, self._last).base)


def _write(folder: Path, model: Path, host: Host, change: LowRank, record: AdapterRecord) -> None:
    name = f"base_model.model.{host.down_projection}"
    save_file({f"{name}.lora_A.weight": change.a, f"{name}.lora_B.weight": change.b}, folder / WEIGHTS)
    last = host.down_projection.rpartition(".")[2]
    config = {
        "peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": str(model), "r": record.rank,
        "lora_alpha": record.rank, "lora_dropout": 0.0, "bias": "none", "target_modules": [last],
        "layers_to_transform": [host.layers - 1], "layers_pattern": "h" if last == "c_proj" else "layers",
        "fan_in_fan_out": last == "c_proj", "inference_mode": True, "use_rslora": False,
    }  # fmt: skip
    if last == "c_proj":
        # GPT-2's attention has a c_proj as well, so the matrix is named in full.
        config |= {"target_modules": host.down_projection, "layers_to_transform": None, "layers_pattern": None}
    (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    text = json.dumps(record.model_dump(mode="json"), indent=2, ensure_ascii=False)
    (folder / RECORD).write_text(text + "\n", encoding="utf-8")
