"""Bits per LoRA parameter against rank: `python benchmarks/lora_capacity.py -o runs/lora`.

A GPT-2 and a Llama of dimension 32 with one layer (about 15,000 parameters), frozen after training on other strings,
and adapters of rank 1 to 8 on all matrices. Every point is kept, so the same command resumes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import rote
from rote.types import LmSizes

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/lora"))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--base", default="trained", choices=["trained", "random"])
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--rank", type=int, action="append", default=[])
    given = parser.parse_args()
    rows = []
    for model in given.model or ["gpt2", "llama"]:
        for rank in given.rank or [1, 2, 4, 8]:
            found = rote.lm_capacity(
                model, LmSizes(dim=32), lora=rank, base=given.base, steps=given.steps, seeds=2, workers=1,
                folder=given.output / f"{model}-{given.base}-{rank}",
            )  # fmt: skip
            low, high = found.interval
            print(
                f"{model} {given.base} rank {rank}: {found.bits_per_parameter:.2f} bits per LoRA parameter "
                f"({low:.2f} to {high:.2f}), {found.per_effective_parameter:.2f} per one that matters; "
                f"{found.parameters.total:,} parameters, offered {found.best} strings, "
                f"plateau {'seen' if found.plateau_in_sight else 'not seen'}, check {found.check_holds}, "
                f"{found.seconds:.0f} CPU seconds",
                flush=True,
            )
            rows.append({"base": given.base, "rank": rank, **found.summary()})
    (given.output / f"{given.base}.json").write_text(json.dumps(rows, indent=1))
