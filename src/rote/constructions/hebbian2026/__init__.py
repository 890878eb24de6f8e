"""Hebbian MLPs for given embeddings: "MLPs are Hebbians" 2026, after its released code."""

from rote.constructions.hebbian2026 import hebbian as hebbian
