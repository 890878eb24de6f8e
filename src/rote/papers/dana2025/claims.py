"""Claims that several of the paper's figures carry."""

from __future__ import annotations

from rote.papers.claims import Claim, GrowsAs
from rote.papers.kinds.lookups import MatchesReleased, MeetsTheorem1, SlopeAbovePromise

ABOVE_BOUND = Claim(
    "above-bound",
    "Trained models reach at least the accuracy phi(Hk + d) that Theorem 1 promises",
    MeetsTheorem1(),
)

LINEAR_IN_HEADS = Claim(
    "linear-in-heads", "At fixed d = k accuracy grows linearly in the number of heads", GrowsAs(0.9, 1.1)
)

FASTER_THAN_BOUND = Claim(
    "faster-than-bound",
    "Memory grows in H faster than the k associations a head that Theorem 1 promises",
    SlopeAbovePromise(),
)


def released_values(each_within: float = 0.04) -> Claim:
    """The run agrees with what was released, each cell within so much under the paper's own protocol."""
    rule = MatchesReleased(each_within=each_within)
    return Claim("released-values", "This run agrees with the released values", rule)
