"""Losses of answers in an exported checkpoint, as OpenUnlearning computes them: per token, the end of text included."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

BATCH = 256


class Checkpoint:
    """A plain checkpoint in stock transformers."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)

    @torch.no_grad()
    def losses(self, questions: Sequence[str], answers: Sequence[str]) -> list[float]:
        """Mean cross-entropy of the tokens of each answer, and of the end of text after it."""
        end = self.tokenizer.eos_token_id
        prompts = self.tokenizer([f"{question} " for question in questions])["input_ids"]
        whole = self.tokenizer([f"{question} {answer}" for question, answer in zip(questions, answers, strict=True)])
        rows = [ids if ids[-1] == end else [*ids, end] for ids in whole["input_ids"]]
        found: dict[int, float] = {}
        for length in sorted(set(map(len, rows))):
            alike = [number for number, ids in enumerate(rows) if len(ids) == length]
            for start in range(0, len(alike), BATCH):
                some = alike[start : start + BATCH]
                ids = torch.tensor([rows[number] for number in some])
                logits = self.model(input_ids=ids).logits[:, :-1].double().log_softmax(-1)
                said = -logits.gather(2, ids[:, 1:, None])[..., 0]
                for number, losses in zip(some, said, strict=True):
                    found[number] = float(losses[len(prompts[number]) - 1 :].mean())
        return [found[number] for number in range(len(rows))]

    @torch.no_grad()
    def generated(self, questions: Sequence[str]) -> list[str]:
        """What greedy decoding writes after each question."""
        inputs = self.tokenizer(list(questions), return_tensors="pt", padding=True, padding_side="left")
        rows = self.model.generate(**inputs)
        return self.tokenizer.batch_decode(rows[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
