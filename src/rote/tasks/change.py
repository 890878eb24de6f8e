"""One change of a table of facts, as a model folder records it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

MOST_CHANGES = 2**16
"""Changes that a model folder records."""
Forget = Literal["never-stored", "erased"]
"""What forgetting means. `never-stored`: the weights of a model built without the fact from the same random
initialization. `erased`: logits near zero for every token."""


class Change(BaseModel):
    """The new answer of one key, or how its fact is forgotten."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: tuple[str, ...]
    """Tokens of the key, padding included."""
    answer: str | None = None
    forget: Forget | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Change:
        if (self.answer is None) == (self.forget is None):
            raise ValueError("a change has either an answer or a way to forget")
        return self
