"""Training of one stack: seeds of one task, specification and protocol, from initial weights to measured models.

Its data are the weights of all contexts, or rows for every minibatch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from rote.models.model import Model
from rote.tasks.vocabulary import Vocabulary
from rote.training.initial import generator, unflattened
from rote.training.muon import Muon
from rote.training.objective import AdamSettings, AdamState, Objective
from rote.training.polish import polished
from rote.training.problem import TrainingProblem
from rote.training.protocol import Protocol, learning_rates
from rote.training.result import Trained

CHUNK = 100
"""Steps between two checks of progress, divergence and interrupts."""


class Data:
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


LAST_BATCHES = 100
"""Number of minibatches in the mean of the published accuracies."""
CURVE_POINTS = 200
"""Largest number of points in a training curve."""
FOCUS_PER_MISS = 3.0
"""Largest ratio of the exponent of the generalized cross-entropy (`rote.training.objective`) to the share of missed
contexts: a model that recalls nearly everything gives up nothing."""

Report = Callable[[int], None]
"""Called with the number of steps taken since the last call."""


def run(
    objective: Objective,
    protocol: Protocol,
    flat: np.ndarray,
    data: list[Data],
    seeds: list[int],
    vocabulary: Vocabulary | None,
    report: Report = lambda steps: None,
) -> list[Trained]:
    """Train a stack of models from `flat` (models x parameters), then measure each."""
    started = time.thread_time()
    flat, losses, shares = _optimised(objective, protocol, flat, data, report)
    diverged = [
        divergence_step(losses[model], flat[model], _cost_of_knowing_nothing(objective, protocol, shares[model]))
        for model in range(len(flat))
    ]
    if protocol.polish:
        ended = [
            (flat[model], losses[model])
            if at is not None
            else _polished(objective.only(model), protocol, flat[model], losses[model])
            for model, at in enumerate(diverged)
        ]
        flat, curves = np.stack([model for model, _ in ended]), [curve for _, curve in ended]
    else:
        curves = list(losses)
    predicted = objective.predictions(flat)
    seconds = (time.thread_time() - started) / len(flat)
    problem = objective.problem
    results = []
    for model, seed in enumerate(seeds):
        scores = problem.scores(predicted[model])
        at = diverged[model]
        batch = None if protocol.batch is None else float(np.mean(shares[model, -LAST_BATCHES:]))
        results.append(
            Trained(
                model=Model(objective.spec, unflattened(objective.spec, flat[model]), vocabulary),
                seed=seed,
                protocol=protocol,
                engine=objective.engine,
                accuracy=None if at is not None else float(scores @ problem.uniform),
                sampled_accuracy=None if at is not None else float(scores @ data[model].weights),
                batch_accuracy=None if at is not None else batch,
                loss=float(curves[model][-1]),
                diverged_at=at,
                seconds=seconds,
                curve=thinned(curves[model]),
            )
        )
    return results


def _optimised(
    objective: Objective, protocol: Protocol, flat: np.ndarray, data: list[Data], report: Report
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parameters after the protocol's steps, and losses and accuracies (models x steps)."""
    settings = AdamSettings(protocol.beta1, protocol.beta2, protocol.epsilon)
    rates = _rates(protocol, protocol.peak)
    matrix_rates = _rates(protocol, protocol.muon_peak)
    ramp = protocol.focus * np.arange(protocol.steps) / protocol.steps
    missed = np.ones(len(flat))
    muon = Muon(objective, flat) if protocol.optimizer == "muon" else None
    state = AdamState.start(flat) if muon is None else muon.state
    losses, shares = [], []
    for start in range(0, protocol.steps, CHUNK):
        part = slice(start, min(start + CHUNK, protocol.steps))
        steps = part.stop - part.start
        drawn = [sampled.rows(steps) for sampled in data]
        rows = None if protocol.batch is None else np.stack([batches for batches in drawn if batches is not None])
        focus = np.minimum(ramp[part], FOCUS_PER_MISS * missed[:, None])
        if muon is None:
            loss, share = objective.adam_steps(state, rates[part], rows, settings, focus)
        else:
            loss, share = muon.steps(rates[part], matrix_rates[part], rows, settings, focus)
        if protocol.decay:
            state.flat *= 1 - np.float32(protocol.decay * rates[part].sum())
        losses.append(loss)
        shares.append(share)
        missed = 1 - share[:, -10:].mean(1)
        report(steps)
        if not np.isfinite(loss[:, -1]).any():
            report(protocol.steps - part.stop)
            break
    return state.flat, np.concatenate(losses, 1), np.concatenate(shares, 1)


def _rates(protocol: Protocol, peak: float) -> np.ndarray:
    final = protocol.final * peak / protocol.peak
    return learning_rates(protocol.schedule, protocol.steps, peak, final, protocol.warmup, protocol.epoch)


def _polished(
    objective: Objective, protocol: Protocol, flat: np.ndarray, losses: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    better, further = polished(objective, flat, protocol.polish, protocol.focus)
    return better, np.concatenate([losses, further])


def _cost_of_knowing_nothing(objective: Objective, protocol: Protocol, shares: np.ndarray) -> float:
    """Loss of a uniform prediction, ln(vocab); infinite if the generalized cross-entropy gives up some contexts while
    others are answered."""
    vocab = objective.problem.vocab
    answers_some = protocol.focus > 0 and shares[-10:].mean() > 2 / vocab
    return math.inf if answers_some else math.log(max(2, vocab))


def divergence_step(losses: np.ndarray, flat: np.ndarray, knowing_nothing: float) -> int | None:
    """Step at which training diverged, if it did.

    Either a loss or a parameter is not finite, or the loss ends above both its initial value and twice that of a
    uniform prediction: then the step from which it stayed there.
    """
    wrong = ~np.isfinite(losses)
    if wrong.any():
        return int(wrong.argmax())
    if not np.isfinite(flat).all():
        return len(losses)
    above = losses > max(float(losses[0]), 2 * knowing_nothing)
    if not above[-1]:
        return None
    return 0 if above.all() else int(len(above) - above[::-1].argmin())


def thinned(losses: np.ndarray) -> np.ndarray:
    """Steps and losses of a training curve."""
    steps = np.unique(np.linspace(0, len(losses) - 1, CURVE_POINTS).round().astype(int))
    return np.stack([steps.astype(np.float64), losses[steps].astype(np.float64)], 1)
