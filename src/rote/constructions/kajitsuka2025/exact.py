"""Theorem 4.1 in exact arithmetic, from fact tables: words of any length, so about sqrt(N) parameters.

No float holds these words, so this is not a model folder: networks are stored as sparse integers in text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rote.constructions.kajitsuka2025.codes import Codes
from rote.constructions.kajitsuka2025.token_values import TokenValues, token_values
from rote.constructions.kajitsuka2025.transformer import Facts, Transformer, assemble
from rote.constructions.vardi2022.memorizer import Storage
from rote.constructions.vardi2022.text import load, save
from rote.errors import InputError
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, Vocabulary

CONFIG, FIRST, SECOND = "memorizer.json", "first.jsonl", "second.jsonl"
FORMAT = 1


@dataclass(frozen=True)
class ExactMemorizer:
    """An exact Transformer, the values of its tokens, and the tokens its labels stand for."""

    transformer: Transformer
    values: TokenValues
    answers: np.ndarray
    vocabulary: Vocabulary

    def answer(self, task: AssociationTask) -> np.ndarray:
        """The answers to every fact's key, by exact evaluation, as tokens of this memorizer's vocabulary."""
        labels = self.transformer.labels(self.values.of(task.in_vocabulary(self.vocabulary).contexts))
        return self.answers[labels]

    def recalled(self, task: AssociationTask) -> int:
        """Facts answered rightly."""
        return int((self.answer(task) == task.in_vocabulary(self.vocabulary).answers).sum())


def exact_memorizer(
    task: AssociationTask,
    storage: Storage = "faithful",
    ordered: bool = True,
    seed: int = 0,
    progress: Progress = SILENT,
) -> ExactMemorizer:
    """Memorize a fact table; contradictory keys keep their commonest answer."""
    values, kept = token_values(task, ordered), task.majority()
    answers, labels = np.unique(kept.answers, return_inverse=True)
    facts = Facts(values.of(kept.contexts), labels, task.context)
    transformer = assemble(facts, storage, seed=seed, progress=progress)
    return ExactMemorizer(transformer, values, answers, task.vocabulary)


def save_exact(memorizer: ExactMemorizer, folder: str | Path) -> Path:
    """Write a memorizer to a new or empty folder."""
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists and is not an empty folder; choose another name")
    folder.mkdir(parents=True, exist_ok=True)
    made = memorizer.transformer
    if made.first is None:
        raise InputError("exact memorizer: one with an embedding table has no first network to store")
    save(made.first, folder / FIRST)
    save(made.second, folder / SECOND)
    config = {
        "format": FORMAT,
        "length": made.length,
        "asked": made.asked,
        "mixing": made.mixing,
        "snap_layers": made.snap_layers,
        "storage": made.storage,
        "layout": made.layout,
        "codes": {name: getattr(made.codes, name).tolist() for name in ("tokens", "codes", "sums")},
        "ordered": memorizer.values.ordered,
        "tokens": memorizer.values.tokens.tolist(),
        "positions": memorizer.values.positions.tolist(),
        "answers": memorizer.answers.tolist(),
        "vocabulary": list(memorizer.vocabulary.tokens),
    }
    (folder / CONFIG).write_text(json.dumps(config, ensure_ascii=False) + "\n", encoding="utf-8")
    return folder


def load_exact(folder: str | Path) -> ExactMemorizer:
    """Read a memorizer that `save_exact` wrote."""
    folder = Path(folder)
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / CONFIG}: cannot be read ({error}); is this an exact memorizer's folder?") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise InputError(f"{folder / CONFIG}: format is not {FORMAT}; written by another version, or not by rote")
    codes = Codes(**{name: np.array(values, dtype=np.int64) for name, values in config["codes"].items()})
    transformer = Transformer(
        load(folder / FIRST),
        load(folder / SECOND),
        codes,
        *(config[name] for name in ("length", "asked", "mixing", "snap_layers", "storage", "layout")),
    )
    tokens, positions = (np.array(config[name], dtype=np.int64) for name in ("tokens", "positions"))
    return ExactMemorizer(
        transformer,
        TokenValues(tokens, positions, config["ordered"]),
        np.array(config["answers"], dtype=np.int64),
        Vocabulary(config["vocabulary"]),
    )
