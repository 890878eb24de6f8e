"""The few sizes of a task that theory needs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class TaskShape(BaseModel):
    """Sizes of an association task.

    `key_tokens` counts the distinct tokens that occur in contexts and `last_tokens` those that occur last:
    the ranks of attention features depend on them, not on the size of the vocabulary.
    """

    model_config = ConfigDict(frozen=True)

    associations: int
    vocab: int
    context: int
    key_tokens: int
    last_tokens: int
    groups: int = 1
    """Groups of positions that share tokens, directly or through others: (relation, country) has two."""
    answers: int
    bits: float
