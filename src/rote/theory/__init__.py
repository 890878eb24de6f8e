"""What theory guarantees: every result in its paper's file, with its conditions and the smallest model it gives."""

from __future__ import annotations

from rote.arguments import typed
from rote.models.spec import Spec
from rote.theory import allenzhu2024 as allenzhu2024
from rote.theory import bietti2023 as bietti2023
from rote.theory import bubeck2020 as bubeck2020
from rote.theory import cabannes2024 as cabannes2024
from rote.theory import dana2025 as dana2025
from rote.theory import dana2025_distributions as dana2025_distributions
from rote.theory import dana2025_encoders as dana2025_encoders
from rote.theory import huben2023 as huben2023
from rote.theory import kajitsuka2025 as kajitsuka2025
from rote.theory import kim2023 as kim2023
from rote.theory import madden2025 as madden2025
from rote.theory import mahdavi2024 as mahdavi2024
from rote.theory import morris2025 as morris2025
from rote.theory import nichani2024 as nichani2024
from rote.theory import rote_bilinear as rote_bilinear
from rote.theory import rote_counting as rote_counting
from rote.theory import rote_peeling as rote_peeling
from rote.theory import rote_rank as rote_rank
from rote.theory import rote_readout as rote_readout
from rote.theory import vardi2022 as vardi2022
from rote.theory.bound import Bound as Bound
from rote.theory.ordered import Bounds as Bounds
from rote.theory.papers import PAPERS as PAPERS
from rote.theory.result import RESULTS as RESULTS


@typed
def bounds(spec: Spec) -> Bounds:
    """Every result for this specification, the strongest guarantee and the strongest impossibility first.

    >>> import rote
    >>> found = rote.bounds(rote.AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20))
    >>> found.guaranteed.id, found.guaranteed.associations
    ('rote.rank', 210)
    >>> found.impossible.associations
    2500
    >>> found.frame().columns[:4]
    ['id', 'kind', 'associations', 'parameters']
    """
    return Bounds(result.bound(spec) for result in RESULTS.values())


def counted() -> str:
    """How many results there are, and from how many papers: "36 results from 13 papers and rote itself"."""
    papers = {result.paper.id for result in RESULTS.values()} - {"rote"}
    return f"{len(RESULTS)} results from {len(papers)} papers and rote itself"
