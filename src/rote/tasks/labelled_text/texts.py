"""Texts, each with a label."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from rote.errors import InputError


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Texts and labels of one length, and what they are."""

    name: str
    """Names them in messages, tables and figures."""
    texts: tuple[str, ...]
    labels: tuple[str, ...]

    @cached_property
    def labels_by_size(self) -> list[str]:
        """Labels, the commonest first; those that are equally common in the order of the alphabet."""
        return sorted((counted := Counter(self.labels)), key=lambda label: (-counted[label], label))

    def of_classes(self, classes: int) -> LabelledTexts:
        """The texts of the commonest labels, so many of them."""
        if len(self.labels_by_size) < classes:
            raise InputError(
                f"{self.name}: {classes} labels are asked for, and the texts have {len(self.labels_by_size)}: "
                f"{', '.join(self.labels_by_size[:5])}"
            )
        kept = set(self.labels_by_size[:classes])
        rows = [row for row, label in enumerate(self.labels) if label in kept]
        return LabelledTexts(self.name, tuple(self.texts[row] for row in rows), tuple(self.labels[row] for row in rows))
