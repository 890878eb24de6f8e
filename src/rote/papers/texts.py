"""Which text of each paper was read. Where a text prints no version, its name says how to recognise it."""

from __future__ import annotations

from functools import partial

from rote.papers.claims import Quotation

PREPRINT = "preprint text headed MILES, Université Paris-Dauphine, four figures; no version is printed in it"
PUBLISHED = "figure captions of the published version, as listed for arXiv:2411.10115"
SLIDES = "slides, June 13, 2024"
MAHDAVI = "arXiv:2306.02010v3, abstract"
MAHDAVI_REVIEWS = "reviews of ICLR 2024, excerpts"
KAJITSUKA = "arXiv:2409.17677, abstract"
MADDEN = "arXiv:2405.13718v3, abstract"
NICHANI = "arXiv:2412.06538v1, abstract"
KAJITSUKA_LISTING = "theorems and figure captions, as listed for arXiv:2409.17677"

preprint = partial(Quotation, text=PREPRINT)
published = partial(Quotation, text=PUBLISHED)
slides = partial(Quotation, text=SLIDES)
review = partial(Quotation, text=MAHDAVI_REVIEWS, owner="review")
