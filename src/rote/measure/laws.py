"""Scaling laws: how a measured quantity grows with one size, with intervals and a comparison of forms.

Points are trials: several values y (one a seed) at each x. Where a quantity has a ceiling, points near it say only that
the law has reached it: a point whose mean is at or above `saturation` pulls the fit up to there, never down to itself,
so that the bend of a full memory is not mistaken for the law's own.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from rote.errors import InputError

CONFIDENCE = 0.95
DEGREES = {"linear": 1, "quadratic": 2, "cubic": 3}
BOUNDS: dict[str, tuple[float, float]] = {"exponent": (0.02, 12.0), "scale": (1e-6, math.inf)}
"""Where a parameter makes sense; those not named are free."""
PROFILE_STEPS = 25
"""Steps of one standard error, each half as long again as the last, before an end of an interval counts as infinite."""
PROFILE_HALVINGS = 8
"""Of the last step, for the end of an interval: a first one is then known to a 200th of a standard error."""


@dataclass(frozen=True)
class Points:
    """Trials of a sweep: for each x the values of its repeats."""

    x: np.ndarray
    repeats: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, values: Mapping[float, Sequence[float] | np.ndarray]) -> Points:
        """From x -> values of its repeats; what is not a number is refused."""
        if not values or any(not len(repeats) for repeats in values.values()):
            raise InputError("law: every x needs at least one value")
        x = np.array(sorted(values), dtype=float)
        repeats = tuple(np.asarray(values[key], dtype=float) for key in sorted(values))
        if not all(np.all(np.isfinite(part)) for part in (x, *repeats)):
            raise InputError("law: values must be finite; leave out trials that diverged, and say so")
        return cls(x, repeats)

    @property
    def means(self) -> np.ndarray:
        return np.array([part.mean() for part in self.repeats])

    def resampled(self, generator: np.random.Generator) -> np.ndarray:
        """Means of a bootstrap sample of the repeats at each x."""
        return np.array([generator.choice(part, len(part)).mean() for part in self.repeats])


@dataclass(frozen=True)
class Law:
    """A form: its formula, its parameters' names, and where to start."""

    name: str
    formula: str
    parameters: tuple[str, ...]
    evaluate: Callable[..., np.ndarray]
    start: Callable[[np.ndarray, np.ndarray], tuple[float, ...]]


def _polynomial(degree: int) -> Callable[[np.ndarray, np.ndarray], tuple[float, ...]]:
    return lambda x, y: (
        tuple(np.polynomial.polynomial.polyfit(x, y, min(degree, len(x) - 1))) + (0.0,) * max(0, degree - len(x) + 1)
    )


LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        Law("linear", "a + b x", ("a", "b"), lambda x, a, b: a + b * x, _polynomial(1)),
        Law("quadratic", "a + b x + c x^2", ("a", "b", "c"), lambda x, a, b, c: a + b * x + c * x**2, _polynomial(2)),
        Law(
            "cubic",
            "a + b x + c x^2 + d x^3",
            ("a", "b", "c", "d"),
            lambda x, a, b, c, d: a + b * x + c * x**2 + d * x**3,
            _polynomial(3),
        ),
        Law(
            "power",
            "a + b x^exponent",
            ("a", "b", "exponent"),
            lambda x, a, b, exponent: a + b * x**exponent,
            lambda x, y: (float(y.min()) - 1e-3, float(np.ptp(y)) / float(x.max()) or 1e-3, 1.0),
        ),
        Law(
            "saturating",
            "a + b (1 - exp(-x / scale))",
            ("a", "b", "scale"),
            lambda x, a, b, scale: a - b * np.expm1(-x / scale),
            lambda x, y: (float(y.min()), float(np.ptp(y)) or 1e-3, float(np.mean(x))),
        ),
    )
}


@dataclass(frozen=True)
class LawFit:
    """A law fitted to points."""

    law: str
    formula: str
    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    """Bootstrap over repeats: how much the draw of seeds matters."""
    profile: dict[str, tuple[float, float]]
    """Profile likelihood: how well the points pin each parameter down, given the form. Absent ends are infinite."""
    residual: float
    """Root mean square distance of the means from the law, saturated points aside."""
    aicc: float
    points: int
    saturated: int
    samples: np.ndarray = field(repr=False, compare=False, default_factory=lambda: np.empty((0, 0)))
    """Parameters fitted to each bootstrap sample."""

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return LAWS[self.law].evaluate(np.asarray(x, dtype=float), *self.values.values())

    def hull(self, name: str) -> tuple[float, float]:
        """The wider of both intervals at either end."""
        ends = [self.profile[name], *([self.intervals[name]] if name in self.intervals else [])]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def band(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the law's bootstrap interval at each x."""
        drawn = np.array([LAWS[self.law].evaluate(np.asarray(x, dtype=float), *values) for values in self.samples])
        tail = 100 * (1 - CONFIDENCE) / 2
        low, high = np.percentile(drawn, [tail, 100 - tail], axis=0)
        return low, high

    def summary(self) -> dict[str, Any]:
        return {
            "law": self.law,
            "formula": self.formula,
            "values": self.values,
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
            "profile": {name: list(ends) for name, ends in self.profile.items()},
            "residual": self.residual,
            "aicc": self.aicc,
            "points": self.points,
            "saturated": self.saturated,
        }


def fit_law(points: Points, law: str, *, saturation: float = math.inf, bootstrap: int = 200, seed: int = 0) -> LawFit:
    """LawFit one form by least squares on the means, saturated points one-sided."""
    if law not in LAWS:
        raise InputError(f"law: {law!r} is not one of {', '.join(LAWS)}")
    form = LAWS[law]
    means = points.means
    free = int((means < saturation).sum())
    if free <= len(form.parameters):
        raise InputError(
            f"law {law}: {len(form.parameters)} parameters need more than {free} unsaturated points; add cells"
        )
    result = _solve(form, points.x, means, saturation)
    values = {name: float(value) for name, value in result.params.valuesdict().items()}
    errors = {name: float(parameter.stderr) for name, parameter in result.params.items()} if result.errorbars else {}
    if all(len(part) == 1 for part in points.repeats):
        bootstrap = min(bootstrap, 1)  # every sample is the same
    generator = np.random.default_rng(seed)
    drawn = np.array([points.resampled(generator) for _ in range(bootstrap)]).reshape(bootstrap, len(means))
    samples = _refits(form, points.x, drawn, saturation, values)
    tail = 100 * (1 - CONFIDENCE) / 2
    ends = np.percentile(samples, [tail, 100 - tail], axis=0) if bootstrap else np.empty((2, 0))
    intervals = {name: (float(low), float(high)) for name, low, high in zip(values, *ends, strict=bool(bootstrap))}
    misfit = _misfit(form, points.x, means, saturation)
    distance = misfit(list(values.values()))[means < saturation]
    squares = float((distance**2).sum())
    return LawFit(
        law=law,
        formula=form.formula,
        values=values,
        intervals=intervals,
        profile=_profile(misfit, values, errors, len(means)),
        residual=math.sqrt(squares / free),
        aicc=_aicc(squares, free, len(values)),
        points=len(means),
        saturated=len(means) - free,
        samples=samples,
    )


def compare_laws(
    points: Points,
    laws: Sequence[str] = ("linear", "quadratic", "power"),
    *,
    saturation: float = math.inf,
    bootstrap: int = 200,
    seed: int = 0,
) -> list[LawFit]:
    """Every form that the points can carry, best (smallest AICc) first."""
    fits = []
    for law in laws:
        try:
            fits.append(fit_law(points, law, saturation=saturation, bootstrap=bootstrap, seed=seed))
        except InputError:
            if law == laws[-1] and not fits:
                raise
    return sorted(fits, key=lambda fit: fit.aicc)


Misfit = Callable[[Sequence[float] | np.ndarray], np.ndarray]
"""How far a law with these parameters is from each point."""


def _misfit(form: Law, x: np.ndarray, y: np.ndarray, saturation: float) -> Misfit:
    """Called some thousand times for one interval, so that all that can be is done beforehand."""
    wanted, full = np.minimum(y, saturation), y >= saturation
    one_sided = bool(full.any())
    bounded = [(number, *BOUNDS[name]) for number, name in enumerate(form.parameters) if name in BOUNDS]

    def misfit(values: Sequence[float] | np.ndarray) -> np.ndarray:
        inside = list(values)
        for number, low, high in bounded:
            inside[number] = min(max(inside[number], low), high)
        off = form.evaluate(x, *inside) - wanted
        if one_sided:
            # A saturated point is met by any law that reaches the ceiling there.
            off = np.where(full, np.minimum(off, 0.0), off)
        return off if np.isfinite(off).all() else np.nan_to_num(off, nan=1e6, posinf=1e6, neginf=-1e6)

    return misfit


def _solve(form: Law, x: np.ndarray, y: np.ndarray, saturation: float) -> Any:
    import lmfit

    free = y < saturation
    first = dict(zip(form.parameters, form.start(x[free], y[free]), strict=True))
    parameters = lmfit.Parameters()
    for name, value in first.items():
        low, high = BOUNDS.get(name, (-math.inf, math.inf))
        parameters.add(name, value=value, min=low, max=high)
    misfit = _misfit(form, x, y, saturation)
    minimizer = lmfit.Minimizer(lambda given: misfit(list(given.valuesdict().values())), parameters, nan_policy="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return minimizer.minimize(method="leastsq")


def _refits(form: Law, x: np.ndarray, drawn: np.ndarray, saturation: float, start: dict[str, float]) -> np.ndarray:
    """The same least squares for every row of `drawn`, from a good start and without intervals: a bootstrap asks for
    hundreds. Polynomials without a saturated point are one linear system."""
    from scipy.optimize import leastsq

    fitted = np.empty((len(drawn), len(start)))
    linear = (drawn < saturation).all(axis=1) if form.name in DEGREES else np.zeros(len(drawn), dtype=bool)
    if linear.any():
        fitted[linear] = np.polynomial.polynomial.polyfit(x, drawn[linear].T, DEGREES[form.name]).T
    low, high = np.array([BOUNDS.get(name, (-math.inf, math.inf)) for name in start]).T
    with warnings.catch_warnings():  # where a sample pins nothing down, the last step will do
        warnings.simplefilter("ignore")
        for row in np.flatnonzero(~linear):
            solution, _ = leastsq(_misfit(form, x, drawn[row], saturation), list(start.values()))
            fitted[row] = solution.clip(low, high)
    return fitted


def _profile(
    misfit: Misfit, values: dict[str, float], errors: dict[str, float], points: int
) -> dict[str, tuple[float, float]]:
    """For each parameter the values at which the best fit of the others just fails the F-test at `CONFIDENCE`.

    An end is infinite where no value on that side fails, and where errors are unknown because nothing is pinned down.
    """
    from scipy.stats import f as f_distribution

    freedom = points - len(values)
    if not errors or freedom < 1:
        return dict.fromkeys(values, (-math.inf, math.inf))
    least = float((misfit(list(values.values())) ** 2).sum())
    limit = least * (1 + float(f_distribution.ppf(CONFIDENCE, 1, freedom)) / freedom)
    profile = {}
    for number, (name, error) in enumerate(errors.items()):
        squares = partial(_squares_beside, misfit, number)
        low, high = (_profile_end(squares, name, values, side * error, limit) for side in (-1, 1))
        profile[name] = (low, high)
    return profile


def _profile_end(
    squares: Callable[[float, list[float]], tuple[float, list[float]]],
    name: str,
    values: dict[str, float],
    error: float,
    limit: float,
) -> float:
    """Where the sum of squares passes the limit, going from the best value in steps of its standard error.

    The others are fitted again from where they were last within the limit: an ill-conditioned fit that starts far away
    ends elsewhere.
    """
    nearest = BOUNDS.get(name, (-math.inf, math.inf))[error > 0]
    others = [value for other, value in values.items() if other != name]
    inside, step = values[name], error
    for _ in range(PROFILE_STEPS):
        outside = inside + step
        if (outside - nearest) * error >= 0:
            # A step beyond the bound goes nearly up to it instead.
            outside = inside + 0.999 * (nearest - inside)
        sum_of_squares, fitted = squares(outside, others)
        if sum_of_squares > limit:
            break
        inside, others, step = outside, fitted, 1.5 * step
    else:
        return math.copysign(math.inf, error)
    for _ in range(PROFILE_HALVINGS):
        middle = (inside + outside) / 2
        sum_of_squares, fitted = squares(middle, others)
        if sum_of_squares > limit:
            outside = middle
        else:
            inside, others = middle, fitted
    return inside


def _squares_beside(misfit: Misfit, fixed: int, value: float, start: list[float]) -> tuple[float, list[float]]:
    """The least sum of squares with one parameter fixed, and the others there."""
    from scipy.optimize import leastsq

    def beside(free: np.ndarray) -> np.ndarray:
        return misfit([*free[:fixed], value, *free[fixed:]])

    with warnings.catch_warnings():  # where the rest is not pinned down, the last step will do
        warnings.simplefilter("ignore")
        solution, _ = leastsq(beside, start)
    return float((beside(solution) ** 2).sum()), solution.tolist()


def _aicc(squares: float, points: int, parameters: int) -> float:
    """Akaike's criterion for few points; the noise level counts as a parameter."""
    count = parameters + 1
    if points - count - 1 <= 0:
        return math.inf
    level = max(squares / points, 1e-300)
    return points * math.log(level) + 2 * count + 2 * count * (count + 1) / (points - count - 1)
