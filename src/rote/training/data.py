"""The training data of a run: weights of all contexts, or rows for every minibatch."""

from __future__ import annotations

import numpy as np

from rote.training.initial import generator
from rote.training.problem import TrainingProblem
from rote.training.protocol import Protocol

CHUNK = 100
"""Steps between two checks of progress, divergence and interrupts."""


class Data:
    """The data set of one seed under a protocol."""

    def __init__(self, problem: TrainingProblem, protocol: Protocol, seed: int) -> None:
        self._problem, self._protocol = problem, protocol
        self._rng = generator(seed, "batches")
        self._samples: np.ndarray | None = None
        if protocol.samples is not None:
            self._samples = problem.draw(protocol.samples, generator(seed, "samples"))
        self._left = np.empty(0, dtype=np.int32)

    @property
    def weights(self) -> np.ndarray:
        """Frequency of each context in training; sums to one."""
        if self._samples is None:
            return self._problem.prior
        return np.bincount(self._samples, minlength=len(self._problem)) / len(self._samples)

    def rows(self, steps: int) -> np.ndarray | None:
        """Contexts of the next minibatches (steps x batch); None under full batches.

        A sampled data set is shuffled in every epoch and divided into batches; a remainder shorter than a batch is left
        out until the next shuffle. Without one, batches are sampled from the prior.
        """
        batch = self._protocol.batch
        if batch is None:
            return None
        if self._samples is None:
            return self._problem.draw(steps * batch, self._rng).reshape(steps, batch)
        taken = np.empty((steps, batch), dtype=np.int32)
        for step in range(steps):
            if len(self._left) < batch:
                self._left = self._rng.permutation(self._samples)
            if len(self._left) < batch:  # a batch larger than the data set repeats it
                self._left = np.tile(self._left, -(-batch // len(self._left)))
            taken[step], self._left = self._left[:batch], self._left[batch:]
        return taken
