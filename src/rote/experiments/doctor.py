"""Self-test of this machine: computations with known answers, in less than a minute."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch

from rote.arguments import typed
from rote.display import html_rows
from rote.errors import InputError
from rote.experiments.engine_answers import engines, instructions, threads
from rote.experiments.known_answers import KnownAnswer, arithmetic, building, identities
from rote.progress import SILENT, Progress
from rote.training import native_engine
from rote.version import __version__


@dataclass(frozen=True)
class Diagnosis:
    """What this machine answered.

    >>> import rote
    >>> from rote.experiments.known_answers import KnownAnswer
    >>> rote.Diagnosis("cpu", (KnownAnswer.exactly("arithmetic", "2 + 2", 4, 5),)).trusted
    False
    """

    device: str
    answers: tuple[KnownAnswer, ...]

    @property
    def trusted(self) -> bool:
        """True if every computation that runs here gave the known answer."""
        return all(answer.holds is not False for answer in self.answers)

    @property
    def wrong(self) -> list[KnownAnswer]:
        return [answer for answer in self.answers if answer.holds is False]

    @property
    def engine(self) -> str:
        """The training engine of this machine."""
        widths = native_engine.lanes() if self.device == "cpu" else []
        return f"native, {widths[0]} lanes ({instructions(widths[0])})" if widths else f"torch on {self.device}"

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            "trusted": self.trusted,
            "device": self.device,
            "engine": self.engine,
            "machine": platform.machine(),
            "versions": {"rote": __version__, "torch": torch.__version__, "python": platform.python_version()},
            "threads": torch.get_num_threads(),
            "answers": [asdict(answer) for answer in self.answers],
        }

    def _repr_html_(self) -> str:
        rows = [[answer.part, answer.question, answer.known, answer.given, answer.holds] for answer in self.answers]
        title = "numbers can be trusted here" if self.trusted else "numbers can NOT be trusted here"
        return html_rows(title, ["part", "question", "known", "given", "holds"], rows)


Part = Literal["arithmetic", "engines", "identities", "threads", "building"]
PARTS: tuple[Part, ...] = ("arithmetic", "engines", "identities", "threads", "building")


@typed
def doctor(device: str = "cpu", *, parts: Sequence[Part] = PARTS, progress: Progress = SILENT) -> Diagnosis:
    """Ask this machine, and this device, questions whose answers are known.

    Arithmetic in both precisions; every engine in every vector width against float64; models in closed form, which must
    recall every fact and verify; published identities; training on one thread and on several, which must not differ.
    `parts` asks some of these alone.

    >>> import rote
    >>> rote.doctor(parts=["arithmetic", "identities"]).trusted
    True
    """
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(f"`device={device}`: cannot be used here ({str(error).splitlines()[0]}); use cpu") from None
    questions: dict[Part, Callable[[], Iterator[KnownAnswer]]] = {
        "arithmetic": lambda: arithmetic(device),
        "engines": lambda: engines(device),
        "identities": identities,
        "threads": lambda: threads(device),
        "building": building,
    }
    answers: list[KnownAnswer] = []
    with progress.stage("asking", len(parts)) as stage:
        for part in parts:
            stage.describe(part)
            answers += questions[part]()
            stage.advance()
    return Diagnosis(device, tuple(answers))
