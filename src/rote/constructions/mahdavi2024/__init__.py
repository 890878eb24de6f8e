"""Theorem 1 of Mahdavi, Liao and Thrampoulidis 2024: attention with a separate query memorizes vectors."""

from rote.constructions.mahdavi2024 import theorem1 as theorem1
