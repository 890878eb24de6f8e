"""`lm-eval`: the fact table as a task for lm-evaluation-harness, and the model that answers all of it.

The task asks of any model that the harness runs whether the answer is the greedy continuation of the key (`acc`) and
how likely it is (`perplexity`). The folder has the model as a plain checkpoint too (as rote's own architecture where no
plain one can hold it), so that one command runs the task on a model for which the result is known.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import cached_property
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

from rote.export import shipped
from rote.export.certificate import Condition
from rote.export.common.checkpoint import TRANSFORMERS, CheckpointRuntime
from rote.export.requirement import Requirement
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.export.target import Manifest, Target
from rote.export.targets.huggingface import CODE, HuggingFace
from rote.export.targets.llama import Llama
from rote.tasks import AssociationTask
from rote.tasks.spelling import Spelling

FACTS, READER, MODEL = "facts.jsonl", "lm_eval_facts.py", "model"
BATCH = 256
TASK = """\
task: {name}
custom_dataset: !function lm_eval_facts.facts
test_split: test
output_type: loglikelihood
doc_to_text: prompt
doc_to_target: continuation
target_delimiter: ""
num_fewshot: 0
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
  - metric: perplexity
    aggregation: perplexity
    higher_is_better: false
metadata:
  version: 1
  facts: {fingerprint}
"""


class LmEval(Target):
    """A task folder that lm-evaluation-harness includes; the page on interoperability has the command that runs it."""

    id: ClassVar[str] = "lm-eval"
    summary: ClassVar[str] = "the facts as a task for lm-evaluation-harness, with a model that answers them"
    requirements: ClassVar[tuple[Requirement, ...]] = (Requirement("lm-eval", "lm_eval", "0.4.9"), *TRANSFORMERS)
    extra: ClassVar[str | None] = "lm-eval"
    data: ClassVar[tuple[str, ...]] = (FACTS, f"{MODEL}/model.safetensors")

    def refusals(self, subject: ExportSubject) -> list[str]:
        return HuggingFace().refusals(subject)

    def write(self, subject: ExportSubject, folder: Path) -> Manifest:
        write_task(folder, subject.task, subject.spelling)
        (folder / MODEL).mkdir()
        inner = HuggingFace() if Llama().refusals(subject) else Llama()
        manifest = inner.write(subject, folder / MODEL)
        return Manifest(self.id, manifest.gain, manifest.places)

    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        return HarnessRuntime(folder, subject, manifest, self.versions)

    def conditions(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> tuple[Condition, ...]:
        if (folder / MODEL / CODE).exists():
            return ()
        return Llama().conditions(folder / MODEL, subject, manifest)


def task_name(source: str) -> str:
    """`rote_countries`, or the name of a file without its folders and suffix."""
    stem = Path(source).stem if "/" in source else source
    return "rote_" + re.sub(r"\W+", "_", stem).strip("_").lower()


def write_task(folder: Path, task: AssociationTask, spelling: Spelling, name: str | None = None) -> None:
    """The task's description, its facts, and the few lines of code that read them from wherever the folder is."""
    name = name or task_name(task.origin.source)
    answers = [spelling.tokens[answer] for answer in task.answers.tolist()]
    rows = [
        json.dumps({"prompt": text, "answer": answer, "continuation": spelling.delimiter + answer}, ensure_ascii=False)
        for text, answer in zip(spelling.texts(task.contexts), answers, strict=True)
    ]
    (folder / FACTS).write_text("\n".join(rows) + "\n", encoding="utf-8")
    described = TASK.format(name=name, fingerprint=json.dumps(task.fingerprint))
    (folder / f"{name}.yaml").write_text(described, encoding="utf-8")
    shutil.copyfile(Path(shipped.__file__).parent / READER, folder / READER)


class HarnessRuntime(CheckpointRuntime):
    """The checkpoint, and what the harness says of each of its answers."""

    def __init__(self, folder: Path, subject: ExportSubject, manifest: Manifest, versions: dict[str, str]) -> None:
        self._folder = folder
        self.shipped_code = (folder / MODEL / CODE).exists()
        super().__init__(folder / MODEL, subject, manifest, versions)

    def generated(self, texts: Sequence[str]) -> list[str]:
        """The answer where the harness counts it as right, nothing where it does not."""
        return [self._right.get(text, "") for text in texts]

    @cached_property
    def _right(self) -> dict[str, str]:
        samples = run_task(self._folder, self.model, self.tokenizer)
        return {sample["doc"]["prompt"]: sample["doc"]["answer"] for sample in samples if sample["acc"]}


def run_task(folder: Path, model: Any, tokenizer: Any) -> list[dict[str, Any]]:
    """Every fact as the harness scored it for a model of transformers."""
    models: Any = import_module("lm_eval.models.huggingface")
    return _evaluated(folder, models.HFLM(pretrained=model, tokenizer=tokenizer, batch_size=BATCH, device="cpu"))


def asked_by_harness(folder: Path) -> set[tuple[str, str]]:
    """Prompt and continuation of everything that the harness asks, here of a model that only listens."""
    interface: Any = import_module("lm_eval.api.model")
    heard: set[tuple[str, str]] = set()

    class Listener(interface.LM):
        def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
            heard.update(request.args for request in requests)
            return [(0.0, False)] * len(requests)

        def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
            return [0.0] * len(requests)

        def generate_until(self, requests: list[Any]) -> list[str]:
            return [""] * len(requests)

    _evaluated(folder, Listener())
    return heard


@contextmanager
def _no_bytecode() -> Iterator[None]:
    """Leave no compiled copy of the task's Python file in its folder."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _evaluated(folder: Path, model: Any) -> list[dict[str, Any]]:
    # Its functions are found by name when they are first used, which type checkers cannot follow.
    # `evaluate` alone: what stands around it asks git, pip and drivers about the machine.
    evaluator: Any = import_module("lm_eval.evaluator")
    tasks: Any = import_module("lm_eval.tasks")
    (task,) = (path.stem for path in folder.glob("*.yaml"))
    log = logging.getLogger("lm_eval")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        # Bars of two libraries, which nothing else turns off.
        with warnings.catch_warnings(), redirect_stderr(StringIO()), _no_bytecode():
            warnings.simplefilter("ignore")
            manager = tasks.TaskManager(include_path=str(folder), include_defaults=False)
            results = evaluator.evaluate(
                lm=model, task_dict=tasks.get_task_dict([task], manager), bootstrap_iters=0, log_samples=True
            )
    finally:
        log.setLevel(level)
    if results is None:
        raise RuntimeError("the harness gave no results")
    return results["samples"][task]
