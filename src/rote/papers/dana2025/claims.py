"""Claims that several of the paper's figures carry."""

from __future__ import annotations

from rote.papers.claims import Claim, GrowsAs, Quotation
from rote.papers.kinds.lookups import MatchesReleased, MeetsTheorem1, SlopeAbovePromise
from rote.papers.texts import preprint

ABOVE_BOUND = Claim(
    "above-bound",
    "Trained models reach at least the accuracy phi(Hk + d) that Theorem 1 guarantees",
    MeetsTheorem1(),
)

FIGURE_1 = preprint(
    "As observed on figure 1.a, the scaling in H is linear for d_h fixed, and on 1.b the scaling in d_h is quadratic "
    "when H is fixed.",
    "Section 4.2",
)


def linear_in_heads(quotation: Quotation | None = None) -> Claim:
    """Asked by rote where no sentence at hand says it of the figure."""
    statement = "At fixed d = k accuracy grows linearly in the number of heads"
    return Claim("linear-in-heads", statement, GrowsAs(0.9, 1.1), quotation)


def faster_than_bound(quotation: Quotation | None = None) -> Claim:
    statement = "Memory grows in H faster than the k associations per head that Theorem 1 guarantees"
    return Claim("faster-than-bound", statement, SlopeAbovePromise(), quotation)


def released_values(each_within: float = 0.04) -> Claim:
    """The run agrees with what was released, on average and, to within so much, in each cell."""
    rule = MatchesReleased(each_within=each_within)
    return Claim("released-values", "This run agrees with the released values", rule)
