"""Theorem 1 of Dana, Pydi and Chevaleyre 2025 and what follows from it: one attention layer, one linear solve."""

from rote.constructions.dana2025 import corollary1 as corollary1
from rote.constructions.dana2025 import theorem1 as theorem1
from rote.constructions.dana2025 import theorem1_distribution as theorem1_distribution
