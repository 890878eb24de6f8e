"""More heads if no sample of attention stores every fact, or rounding moves margins too far.

A model with a few more features than facts is better conditioned.
"""

from __future__ import annotations

from dataclasses import replace

from rote.constructions.construction import Abandoned, Draft, Request
from rote.constructions.dana2025.interpolation import NoSampleStores, rounding, store, too_rounded
from rote.constructions.dana2025.options import Theorem1Options
from rote.constructions.dana2025.solution import TooFewHeads
from rote.measure.rounding import MOST_ROUNDING
from rote.models.attention_only import AttentionOnly
from rote.models.spec import in_words
from rote.tasks import AssociationTask

SHARES = (0.05, 0.15, 0.3)
"""Heads that are added, as shares of the fewest: a few mend most samples, and bfloat16 needs a quarter more."""


def store_growing(
    task: AssociationTask, spec: AttentionOnly, request: Request[AssociationTask, Theorem1Options], solve: str
) -> Draft:
    """Store the facts at this specification, and with more heads if that fails and `heads` was not given."""
    shares = iter(SHARES[: request.options.growths] if request.heads is None else ())
    fewest = heads = spec.heads
    abandoned: list[Abandoned] = []
    best: Draft | None = None
    while True:
        grown = spec.model_copy(update={"heads": heads})
        try:
            draft = replace(store(task, grown, request, solve), abandoned=tuple(abandoned))
            best = draft if best is None else min(best, draft, key=rounding)
            share = next(shares, None) if too_rounded(draft) else None
            if share is None:
                return best
            reason = f"rounding moves a margin by {rounding(draft):.2g} of the smallest, more than {MOST_ROUNDING:g}"
        except TooFewHeads as error:
            if request.heads is not None:
                raise
            # These contexts' features have a smaller rank than the sizes of the task alone let expect.
            fewest, share, reason = error.heads, 0.0, str(error)
        except NoSampleStores as error:
            share, reason = max(shares, default=None) if error.singular else next(shares, None), str(error)
            if share is None:
                if best is None:
                    raise
                return best
        heads = fewest + (max(1, round(share * fewest)) if share else 0)
        abandoned.append(Abandoned(in_words(grown), reason))
