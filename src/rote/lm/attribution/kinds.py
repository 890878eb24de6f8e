"""Heads against MLPs, at the subject and after it, in windows of layers.

All heads, or all MLPs, of some neighbouring layers are replaced together: by their means (what is lost), or in a run on
another subject by what they gave on this one (what is restored). Components back each other up, so one at a time shows
less than a window does. Heads after the subject also carry what others wrote: that they are needed is not storage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rote.lm.attribution.components import (
    Components,
    LmComponent,
    Recording,
    Replacement,
    recording,
    replacing_components,
    starting_at,
)
from rote.lm.attribution.effects import Means, partners
from rote.lm.attribution.prompts import PromptBatch, Prompts
from rote.measure.intervals import Interval
from rote.measure.recall import margins

Kind = Literal["heads", "MLPs"]
KINDS: tuple[Kind, ...] = ("heads", "MLPs")
Place = Literal["subject", "after", "both"]
PLACES: tuple[Place, ...] = ("subject", "after", "both")
"""At the subject's tokens, at the words after it, or at both."""
WINDOW = 5
"""Neighbouring layers that are replaced together."""
MOVES = 10
"""About how many windows there are over all layers."""
RESAMPLES = 1000


class LayerWindow(NamedTuple):
    """Layers `first` to `last`, both included."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"


@dataclass(frozen=True, eq=False)
class KindEffects:
    """Effects of replacing all components of a kind; arrays are facts x kinds x places x windows.

    The last window is all layers.
    """

    windows: tuple[LayerWindow, ...]
    margins: np.ndarray
    """Logit margin of each fact."""
    ablated: np.ndarray
    """Logit margin after mean-ablation."""
    restored: np.ndarray
    """Share of the answer that patching restores in a run on another subject; not a number without such a subject."""

    def at(self, kind: Kind, place: Place, window: int = -1) -> tuple[np.ndarray, np.ndarray]:
        """Margins after ablation and shares restored, fact by fact."""
        where = (slice(None), KINDS.index(kind), PLACES.index(place), window)
        return self.ablated[where], self.restored[where]

    def summary(self) -> list[dict[str, Any]]:
        """One line per kind, place and window, with bootstrap intervals over facts."""
        lines = []
        for kind in KINDS:
            for place in PLACES:
                for number, window in enumerate(self.windows):
                    left, restored = self.at(kind, place, number)
                    given = restored[np.isfinite(restored)]
                    lines.append({
                        "kind": kind, "place": place, "layers": str(window), "facts": len(left),
                        "lost": int((left <= 0).sum()), "margin_lost": float((self.margins - left).mean()),
                        "margin_lost_interval": list(bootstrap(self.margins - left)),
                        "restored": float(given.mean()) if len(given) else None,
                        "restored_interval": list(bootstrap(given)) if len(given) else None,
                    })  # fmt: skip
        return lines


def bootstrap(values: np.ndarray, seed: int = 0) -> Interval:
    """95 % interval of a mean over facts, by resampling facts."""
    drawn = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[drawn].mean(1), [2.5, 97.5])
    return Interval(float(low), float(high))


def windows_of(layers: int) -> tuple[LayerWindow, ...]:
    """Windows of neighbouring layers, then all layers."""
    size = min(WINDOW, layers)
    starts = range(0, layers - size + 1, max(1, layers // MOVES)) if size < layers else ()
    return (*(LayerWindow(first, first + size - 1) for first in starts), LayerWindow(0, layers - 1))


def kind_effects(
    parts: Components, prompts: Prompts, places: Sequence[int], means: Means, batch: int, moving: bool = True
) -> KindEffects:
    """Replace every kind at every place, for these questions: in every window, or only in all layers together."""
    windows = windows_of(len(parts.layers))[0 if moving else -1 :]
    found: dict[int, tuple[float, np.ndarray, np.ndarray]] = {}
    for block in prompts.batches(places, batch):
        answers = prompts.answers(block.places).to(parts.model.device)
        with torch.inference_mode():
            with recording(parts) as seen:
                logits = prompts.run(parts.model, block.tokens)
            before = margins(logits, answers).double().cpu().numpy()
            ablated, restored = _replaced(parts, prompts, block, seen, logits, answers, means, windows)
        for row, at in enumerate(block.places):
            found[at] = float(before[row]), ablated[row], restored[row]
    kept = [found[at] for at in places]
    return KindEffects(
        windows, np.array([one[0] for one in kept]), np.stack([one[1] for one in kept]),
        np.stack([one[2] for one in kept]),
    )  # fmt: skip


def _replaced(
    parts: Components, prompts: Prompts, block: PromptBatch, seen: Recording, logits: Tensor, answers: Tensor,
    means: Means, windows: Sequence[LayerWindow],
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    rows, other = torch.arange(len(answers)), partners(answers)

    def difference(given: Tensor) -> Tensor:
        return (given[rows, answers] - given[rows, answers[other]]).double()

    clean, corrupted = difference(logits), difference(logits[other])
    apart = torch.where((answers == answers[other]) | ((clean - corrupted).abs() < 1e-6), torch.nan, clean - corrupted)
    shape = (len(answers), len(KINDS), len(PLACES), len(windows))
    ablated, restored = np.empty(shape), np.empty(shape)
    subject = block.roles == prompts.after
    masks: dict[Place, Tensor] = {"subject": subject, "after": ~subject, "both": torch.ones_like(subject)}
    cases: list[tuple[Kind, Place]] = [(kind, place) for kind in KINDS for place in PLACES]

    def run(window: LayerWindow, tokens: Tensor, stream: Tensor, value: Any) -> list[Tensor]:
        changes = [
            Replacement(part, value(part), slice(number * len(rows), (number + 1) * len(rows)), masks[place])
            for number, (kind, place) in enumerate(cases)
            for part in parts.all
            if window.first <= part.layer <= window.last and (part.head is None) == (kind == "MLPs")
        ]
        copies = len(cases)
        with starting_at(parts, window.first, stream.repeat(copies, 1, 1)), replacing_components(parts, changes):
            return list(prompts.run(parts.model, tokens.repeat(copies, 1)).split(len(rows)))

    def mean(part: LmComponent) -> Tensor:
        return means.at(part)[block.roles]

    for number, window in enumerate(windows):
        first = seen.inputs[window.first]
        without = run(window, block.tokens, first, mean)
        given = run(window, block.tokens[other], first[other], seen.output)
        for (kind, place), left, put in zip(cases, without, given, strict=True):
            at = (slice(None), KINDS.index(kind), PLACES.index(place), number)
            ablated[at] = margins(left, answers).double().cpu().numpy()
            restored[at] = ((difference(put) - corrupted) / apart).cpu().numpy()
    return ablated, restored
