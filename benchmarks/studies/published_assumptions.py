"""Tests that Mahdavi et al. 2024 made of their assumptions on pretrained models, as published."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PublishedAssumptions:
    """One model's row; "encoded" is after the first block, "embedded" before it."""

    model: str
    tokens: int
    """The paper's n."""
    dim: int
    queries_independent: str
    """Share of random n-subsets of queries that have full rank."""
    general_position: str
    """The same of d-subsets."""
    contexts_full: str
    """Contexts of rank n."""


PUBLISHED_ASSUMPTIONS = (
    PublishedAssumptions("ViT-base, encoded", 197, 768, "0.998", "0", "all"),
    PublishedAssumptions("ViT-base with random weights, encoded", 197, 768, "1", "0", "all"),
    PublishedAssumptions("ViT-base, embedded", 197, 768, "0", "0", "all"),
    PublishedAssumptions("GPT-2 large, encoded", 1024, 1280, "1", "0", "about 95 %"),
    PublishedAssumptions("BERT large, encoded", 512, 1024, "0 (1 up to about 290 queries)", "0", "nearly all"),
)
