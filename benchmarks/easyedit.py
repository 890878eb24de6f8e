"""EasyEdit's own dataset classes and its own ROME on a kit of `rote suite --twins`, scored by the kit.

    pip install --no-deps --target SITE easyeditor
    rote suite FACTS --twins --for tofu,counterfact --template ... -o KIT
    python benchmarks/easyedit.py KIT SITE

Only modules that are needed are imported, since the package's own start imports a dozen others. It asks for CUDA by
name; the CPU is used instead. The figures are in docs/editing_study.md.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

PACKAGES = ("", ".dataset", ".models", ".models.rome", ".trainer", ".util")


def imported(site: Path, name: str) -> Any:
    """A module of EasyEdit, without what its packages import when they start."""
    for part in PACKAGES:
        package = ModuleType(f"easyeditor{part}")
        package.__path__ = [str(site.joinpath("easyeditor", *part.split(".")[1:]))]
        sys.modules.setdefault(package.__name__, package)
    return importlib.import_module(f"easyeditor.{name}")


def on_the_cpu() -> None:
    """Have tensors that are asked for on CUDA on the CPU."""

    def here(call: Any) -> Any:
        def device(value: Any) -> Any:
            return "cpu" if isinstance(value, str) and value.startswith("cuda") else value

        return lambda *given, **named: call(
            *map(device, given), **{name: device(value) for name, value in named.items()}
        )

    for owner, name in ((torch.Tensor, "to"), (torch, "zeros"), (torch, "tensor")):
        setattr(owner, name, here(getattr(owner, name)))


def read(site: Path, tokenizer: Any) -> None:
    """Both dataset classes, and every batch that they make of the kit's records."""
    for module, cls, file in (
        ("dataset.counterfact", "CounterFactDataset", "easyedit_counterfact.json"),
        ("dataset.zsre", "ZsreDataset", "zsre.json"),
    ):
        with contextlib.redirect_stdout(io.StringIO()):
            rows = getattr(imported(site, module), cls)(f"counterfact/{file}")
        rows.tok, rows.config = tokenizer, SimpleNamespace(device="cpu", alg="ROME")
        batches = [getattr(rows, name)(list(rows)) for name in ("collate_fn", "collate_gpt_fn")]
        ids = [batch[part]["input_ids"] for batch in batches for part in ("edit_inner", "edit_rephrase", "loc")]
        unknown = sum(int((each == tokenizer.unk_token_id).sum()) for each in ids)
        print(f"{cls}: {len(rows)} records, {unknown} unknown tokens in its batches")


def main() -> None:
    kit, site = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    sys.path.append(str(site))
    os.chdir(kit)
    rome: Any = imported(site, "models.rome.rome_main")
    settings = rome.ROMEHyperParams.from_hparams("counterfact/hparams/ROME.yaml")
    tokenizer = AutoTokenizer.from_pretrained(settings.model_name)
    full = AutoModelForCausalLM.from_pretrained(settings.model_name).eval()
    on_the_cpu()  # after the model was loaded, which uses these functions on the meta device
    read(site, tokenizer)

    def written(model: Any, questions: list[str]) -> list[str]:
        inputs = tokenizer(questions, return_tensors="pt", padding=True, padding_side="left")
        rows = model.generate(**inputs)[:, inputs["input_ids"].shape[1] :]
        return tokenizer.batch_decode(rows, skip_special_tokens=True)

    def edited(model: Any, rewrite: dict[str, Any]) -> Any:
        request = {name: rewrite[name] for name in ("prompt", "subject")} | {"target_new": rewrite["target_new"]["str"]}
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return rome.apply_rome_to_model(model, tokenizer, [request], settings, copy=True)[0]

    records = json.loads(Path("counterfact/counterfact.json").read_text(encoding="utf-8"))
    right = {"edits": [0, 0], "paraphrases": [0, 0], "neighbours": [0, 0]}
    together, asked, wanted = full, [], []
    for record in records:
        rewrite = record["requested_rewrite"]
        new = rewrite["target_new"]["str"]
        alone, together = edited(full, rewrite), edited(together, rewrite)
        asked.append(rewrite["prompt_full"])
        wanted.append(new)
        for name, questions, answers in (
            ("edits", asked[-1:], [new]),
            ("paraphrases", record["paraphrase_prompts"], [new] * len(record["paraphrase_prompts"])),
            ("neighbours", record["neighborhood_prompts"], record["neighborhood_answers"]),
        ):
            said = written(alone, questions)
            right[name][0] += sum(a == b for a, b in zip(said, answers, strict=True))
            right[name][1] += len(answers)
    print("one edit each:", ", ".join(f"{name} {a} of {b}" for name, (a, b) in right.items()))
    file = next(path for path in sorted(Path("tofu").glob("retain*.jsonl")) if "perturbed" not in path.name)
    kept = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    said = written(together, asked + [row["question"] for row in kept])
    correct = [a == b for a, b in zip(said, wanted + [row["answer"] for row in kept], strict=True)]
    print(f"all edits in a row: {sum(correct[: len(asked)])} of {len(asked)} edits, "
          f"{sum(correct[len(asked) :])} of {len(kept)} other facts")  # fmt: skip


if __name__ == "__main__":
    main()
