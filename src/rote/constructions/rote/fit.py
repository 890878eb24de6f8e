"""Fitting W_O and W_U by cross-entropy on fixed features, until every answer is the strict maximum.

Only the argmax matters to an association, so more facts fit than features have rank. The problem min over B, U of
mean cross-entropy(F B U^T, answers) is not convex, but from spread-out answer codes L-BFGS finds separating solutions
up to about two bits per fitted number. Features are whitened first, or their condition number would set the pace.
Products run in float32, which costs nothing while facts are still missed; when a line search fails on its rounding,
the fit continues in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Integer
from scipy.optimize import minimize
from torch import Tensor

from rote.constructions.common.whitening import Whitened
from rote.models.spec import FIT_FLOATS, rows_within
from rote.progress import SILENT, Progress
from rote.threads import cpu_time

ROUND_STEPS = 100
"""L-BFGS steps between looks at whether missed facts still grow fewer; forgetting its memory then does no harm."""

START_SCALE = 5.0
"""Least-squares fit to the answer codes, times this: large enough for cross-entropy to see who is wrong."""

Accept = Callable[[Tensor, Tensor], bool]


@dataclass(frozen=True, eq=False)
class ReadoutFit:
    """The best solution seen: fewest missed facts, or the one that was accepted."""

    output: Float[Tensor, "features dim"]
    unembed: Float[Tensor, "classes dim"]
    missed: int
    evaluations: int
    accepted: bool


class _Accepted(Exception):
    pass


class _OutOfTime(Exception):
    pass


class _Objective:
    """Mean cross-entropy and its gradient; remembers the best point and offers complete ones to `accept`."""

    def __init__(
        self, white: Whitened, answers: Tensor, shape: tuple[int, int], accept: Accept, deadline: float | None
    ) -> None:
        self.white, self.answers, self.accept, self.deadline = white, answers, accept, deadline
        self.classes, self.dim = shape
        self.evaluations, self.missed = 0, len(answers) + 1
        self.best: Tensor | None = None
        self._wait = 0
        self.use(torch.float32)

    def use(self, dtype: torch.dtype) -> None:
        self.columns = self.white.columns.to(dtype)

    def split(self, point: Tensor) -> tuple[Tensor, Tensor]:
        cut = self.white.rank * self.dim
        return point[:cut].view(self.white.rank, self.dim), point[cut:].view(self.classes, self.dim)

    def solution(self, point: Tensor) -> tuple[Tensor, Tensor]:
        """B in the features' own coordinates, and U, in float64."""
        B, U = self.split(point.double())
        return self.white.back @ B, U

    def __call__(self, given: np.ndarray) -> tuple[float, np.ndarray]:
        self.evaluations += 1
        point = torch.from_numpy(given)
        B, U = self.split(point.to(self.columns.dtype))
        facts, step = len(self.answers), rows_within(FIT_FLOATS, self.classes)
        stream = self.columns @ B
        pulled, slope = torch.empty_like(stream), torch.zeros_like(U)
        loss, missed = 0.0, 0
        for start in range(0, facts, step):
            rows = slice(start, min(start + step, facts))
            row, answers = torch.arange(rows.stop - start), self.answers[rows]
            logits = stream[rows] @ U.T
            missed += int(logits.argmax(1).ne(answers).sum())
            normal = logits.logsumexp(1)
            loss += float((normal - logits[row, answers]).double().sum())
            residual = logits.sub_(normal[:, None]).exp_()
            residual[row, answers] -= 1
            pulled[rows] = residual @ U
            slope += residual.T @ stream[rows]
        self._look(point, missed)
        gradient = torch.cat([(self.columns.T @ pulled).flatten(), slope.flatten()])
        return loss / facts, gradient.double().numpy() / facts

    def _look(self, point: Tensor, missed: int) -> None:
        if missed < self.missed or missed == 0:
            self.missed, self.best = missed, point.clone()
        self._wait -= 1
        if missed == 0 and self._wait <= 0:
            if self.accept(*self.solution(point)):
                raise _Accepted
            # Margins grow slowly; looking at every step would cost more than the steps.
            self._wait = 10
        if self.deadline is not None and cpu_time() > self.deadline:
            raise _OutOfTime


def hopeless(course: list[int], rounds: int, patience: int) -> bool:
    """Whether the fewest missed facts after each round do not let the remaining rounds finish.

    They stood still for longer than `patience`; or falling three times as fast as of late would not bring them to zero.
    """
    if len(course) > patience + 1 and course[-1] == course[-2 - patience]:
        return True
    late = max(3, patience + 1)
    return len(course) > late + 1 and 3 * (course[-1 - late] - course[-1]) * rounds < late * course[-1]


def fit_readout(
    white: Whitened,
    answers: Integer[Tensor, " facts"],
    code: Float[Tensor, "classes dim"],
    accept: Accept,
    *,
    steps: int = 3000,
    patience: int = 5,
    progress: Progress = SILENT,
    deadline: float | None = None,
) -> ReadoutFit:
    """Fit until `accept` takes a solution that misses nothing, or the fall of missed facts leaves no hope.

    `code` is where U starts, one row per class; B starts at the least-squares fit to the answers' rows. `patience`
    counts rounds of 100 steps without progress in missed facts (or, once nothing is missed, in margins).
    """
    objective = _Objective(white, answers, (code.shape[0], code.shape[1]), accept, deadline)
    start = START_SCALE * (white.columns.T @ code[answers]) / len(answers)
    point = torch.cat([start.flatten(), code.flatten()]).numpy()
    course, accepted = [len(answers) + 1], False
    with progress.stage(f"fitting {len(answers)} facts", steps) as stage:
        try:
            for done in range(0, steps, ROUND_STEPS):
                number = min(ROUND_STEPS, steps - done)
                options = {"maxiter": number, "maxcor": 20, "ftol": 0.0, "gtol": 1e-12}
                ended = minimize(objective, point, jac=True, method="L-BFGS-B", options=options)
                point = ended.x
                stage.advance(number)
                stage.describe(f"fitting {len(answers)} facts, {objective.missed} missed")
                if ended.nit < number:
                    if objective.columns.dtype == torch.float64:
                        break
                    objective.use(torch.float64)
                course.append(objective.missed)
                if hopeless(course, (steps - done - number) // ROUND_STEPS, patience):
                    break
        except _Accepted:
            accepted = True
        except _OutOfTime:
            pass
    best = torch.from_numpy(point) if objective.best is None else objective.best
    output, unembed = objective.solution(best)
    return ReadoutFit(output, unembed, objective.missed, objective.evaluations, accepted)
