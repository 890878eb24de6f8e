"""Constructions: every guaranteed fact is recalled, and the certificate verifies."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rote.constructions.build import build
from rote.errors import RoteError
from rote.experiments.known_answers.known_answer import KnownAnswer
from rote.folders import verify, write_folder
from rote.measure.recall import recall
from rote.tasks.facts import facts

PART = "building"
BUILDS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("dana2025.theorem1", "countries:facts=300,seed=1", {}),
    ("dana2025.theorem1", "random:vocab=50,context=2,facts=210,seed=1", {"dim": 10, "head_dim": 10, "heads": 20}),
    ("rote.readout", "random:vocab=30,context=3,facts=400,seed=1", {}),
    ("huben2023", "random:vocab=12,context=2,facts=60,seed=1", {}),
    ("kajitsuka2025.theorem4_1", "random:vocab=9,context=2,facts=20,seed=1", {}),
    ("cabannes2024.least_squares", "random:vocab=40,context=1,facts=40,seed=1", {}),
)
"""Method, facts and sizes. The second is the paper's own example, at exactly the guarantee of Theorem 1."""


def building() -> Iterator[KnownAnswer]:
    """Build, write and read each model, and evaluate it on every fact."""
    for method, source, sizes in BUILDS:
        task = facts(source)
        question = f"{method} on {task.facts:,} facts: recalled, and verified from its folder"
        known = f"{task.facts:,}, verified"
        try:
            built = build(task, method, **sizes)
            with tempfile.TemporaryDirectory() as place:
                folder = write_folder(
                    Path(place) / "model", built.model, task.origin, built.provenance, built.certificate
                )
                held = verify(folder, task).holds
            given = f"{recall(built.model, task).recalled:,}, {'verified' if held else 'not verified'}"
        except RoteError as error:
            given = str(error)
        yield KnownAnswer.exactly(PART, question, known, given)
