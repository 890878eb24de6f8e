"""How large attention scores are drawn: one place for the choices of all constructions with random attention.

Large scores make attention switch sharply between positions, which keeps features of different heads apart; too large
ones make a head look at one and the same position whatever the context, so that its features vanish.
"""

from __future__ import annotations

from dataclasses import dataclass

FOR_FITS = (5.0, 10.0, 2.5)
"""Standard deviations for readouts that are fitted, tried in this order until the features have the rank they should:
sharp enough to tell contexts apart, then sharper, then softer."""

AROUND = (1.0, 0.5, 2.0, 0.7)
"""Factors on the usual size for one draw after another: the usual one, then others around it."""


SOFTEST = 0.15
"""Factor below which scores are not made smaller again: attention is then nearly uniform."""


@dataclass(frozen=True)
class ScoreSize:
    """The scores' standard deviation: one that is given, or a factor times what suits the number of heads.

    Sharp attention keeps many heads apart, but with few heads it leaves facts on which none of them looks back. The
    rules lie where condition numbers were smallest.
    """

    given: float | None = None
    factor: float = 1.0

    def plain(self, heads: int) -> float:
        """For heads that read every context: 1.6 times the root of their number, within 2 and 30."""
        return self._or_given(min(30.0, max(2.0, 1.6 * heads**0.5)))

    def gated(self, heads: int) -> float:
        """For the heads of one group, whose query is the same for all its facts: a sixth of their number, 2 to 20."""
        return self._or_given(min(20.0, max(2.0, heads / 6)))

    @property
    def may_soften(self) -> bool:
        """Whether smaller scores may be tried: not where a size was given, and not without end."""
        return self.given is None and self.factor > SOFTEST

    def softer(self) -> ScoreSize:
        return ScoreSize(self.given, self.factor / 2)

    def _or_given(self, usual: float) -> float:
        return usual * self.factor if self.given is None else self.given


def score_sizes(given: float | None, redraws: int) -> list[ScoreSize]:
    """One per random initialization: the given size, or the usual one and others around it."""
    return [ScoreSize(given, AROUND[draw % len(AROUND)]) for draw in range(redraws + 1)]
