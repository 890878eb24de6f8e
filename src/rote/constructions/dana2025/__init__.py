"""Theorem 1 of Dana, Pydi and Chevaleyre 2025 and what follows from it: one attention layer, one linear solve."""
