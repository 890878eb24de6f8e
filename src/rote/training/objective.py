"""What every engine offers: losses and gradients of a stack of models, runs of Adam, and what the models predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rote.training.initial import Trainable
from rote.training.problem import Problem


@dataclass
class AdamState:
    """Parameters and moments of a stack of models, (models x parameters) float32 each; updated in place."""

    flat: np.ndarray
    first: np.ndarray
    second: np.ndarray
    steps: int = 0

    @classmethod
    def start(cls, flat: np.ndarray) -> AdamState:
        return cls(flat.astype(np.float32), np.zeros_like(flat, np.float32), np.zeros_like(flat, np.float32))


@dataclass(frozen=True)
class AdamSettings:
    beta1: float
    beta2: float
    epsilon: float


class Objective(Protocol):
    """Cross-entropy of a stack of models of one shape."""

    spec: Trainable
    problem: Problem
    engine: str

    def gradient(self, flat: np.ndarray, rows: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss (nats), share of right predictions, and gradient per model.

        Over all contexts with their weights, or over `rows` (models x batch) of the problem's contexts.
        """
        ...

    def adam_steps(
        self, state: AdamState, rates: np.ndarray, rows: np.ndarray | None, settings: AdamSettings
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take one step of Adam per rate; losses and shares of right predictions (models x steps) before each step.

        `rows` is (models x steps x batch), or nothing under full batches.
        """
        ...

    def predictions(self, flat: np.ndarray) -> np.ndarray:
        """Per model and context the token with the strictly largest logit; -1 where there is none."""
        ...

    def only(self, model: int) -> Objective:
        """The objective of one model of the stack."""
        ...
