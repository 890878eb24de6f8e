"""An exported folder as its target library runs it: text to ids, logits, ids to text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.measure.recall import margins

BATCH = 512
"""Questions that are asked at once, at most."""


class Runtime(ABC):
    """What a certificate needs of a runtime. Ids of answers are the model's own in every target."""

    versions: dict[str, str]
    """Release of every library that took part."""
    dtype: str
    """Of the weights."""
    cache_dtype: str | None = None
    """Of the keys and values that are kept between tokens, where any are."""
    parameters: int
    vocab: int
    """Tokens that compete for the answer."""
    rows: int = BATCH
    """Questions that are asked at once."""
    gain: float = 1.0
    """What logits were multiplied by, so that sampling gives the answer."""
    places: dict[tuple[int, int], int] | None = None
    """The id of a token at a position, in targets without positions; None where a token has one id everywhere."""

    def meant(self, contexts: np.ndarray) -> list[list[int]]:
        """The ids that the text of each key has to be read as; -1 for what this export has no id for."""
        if self.places is None:
            return contexts.tolist()
        places = self.places
        return [[places.get((token, position), -1) for position, token in enumerate(key)] for key in contexts.tolist()]

    @abstractmethod
    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text."""

    @abstractmethod
    def words(self, tokens: Sequence[int]) -> list[str]:
        """Text of single tokens."""

    @abstractmethod
    def logits(self, ids: Integer[Tensor, "batch context"]) -> Float[Tensor, "batch vocab"]:
        """Logits of the next token after each context."""

    def generated(self, texts: Sequence[str]) -> list[str] | None:
        """What the library itself writes after each text; None where a target has no such thing."""
        return None

    def margins(
        self, ids: Integer[Tensor, "batch context"], answers: Integer[Tensor, " batch"]
    ) -> Float[Tensor, " batch"]:
        """Answer's logit less the best of all others, undoing the gain."""
        with torch.no_grad():
            return margins(self.logits(ids), answers) / self.gain
