"""The interface of every engine: losses and gradients of a stack of models, steps of Adam, and predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from rote.models.attention_only import Transformer
from rote.training.problem import TrainingProblem


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


class Evaluation(NamedTuple):
    """One evaluation of a stack of models; one entry (or row) per model."""

    loss: np.ndarray
    """Cross-entropy in nats."""
    right: np.ndarray
    """Accuracy."""
    gradient: np.ndarray
    objective: np.ndarray
    """The minimized value: the cross-entropy, or the generalized one."""


class Differentiable(Protocol):
    """What has a loss and a gradient: all that L-BFGS needs."""

    def gradient(self, flat: np.ndarray, rows: np.ndarray | None = None, focus: np.ndarray | None = None) -> Evaluation:
        """Over all contexts with their weights, or over `rows` (models x batch) of the problem's contexts.

        `focus` is one number per model.
        """
        ...


class Objective(Differentiable, Protocol):
    """Cross-entropy of a stack of models of one shape.

    With a focus q, a context of cross-entropy c counts (1 - e^(-q c)) / q, which is c at q = 0: the generalized
    cross-entropy of Zhang and Sabuncu 2018. The larger q, the smaller the gradient of contexts that are nearly given
    up, so a model that cannot hold everything holds more.
    """

    spec: Transformer
    problem: TrainingProblem
    engine: str

    def adam_steps(
        self,
        state: AdamState,
        rates: np.ndarray,
        rows: np.ndarray | None,
        settings: AdamSettings,
        focus: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take one step of Adam per rate; returns cross-entropies and accuracies (models x steps) before each.

        `rows` is (models x steps x batch), or nothing under full batches; `focus` (models x steps).
        """
        ...

    def predictions(self, flat: np.ndarray) -> np.ndarray:
        """Per model and context the token with the strictly largest logit; -1 where there is none."""
        ...

    def only(self, model: int) -> Objective:
        """The objective of one model of the stack."""
        ...
