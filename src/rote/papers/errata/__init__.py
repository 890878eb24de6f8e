"""Errata and notes on the papers, as pure data: docs/errata.md is generated from these records."""

from __future__ import annotations

from rote.papers.errata.dana2024 import DANA2024_ERRATA
from rote.papers.errata.dana2025_associations import ASSOCIATION_ERRATA
from rote.papers.errata.dana2025_distributions import DISTRIBUTION_ERRATA
from rote.papers.errata.dana2025_experiments import EXPERIMENT_ERRATA
from rote.papers.errata.erratum import VERDICTS as VERDICTS
from rote.papers.errata.erratum import Erratum as Erratum
from rote.papers.errata.erratum import Verdict as Verdict
from rote.papers.errata.other_papers import OTHER_NOTES

ERRATA: tuple[Erratum, ...] = (
    *ASSOCIATION_ERRATA, *DISTRIBUTION_ERRATA, *EXPERIMENT_ERRATA, *DANA2024_ERRATA, *OTHER_NOTES,
)  # fmt: skip
"""In the order of the papers."""
