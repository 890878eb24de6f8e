"""Kajitsuka and Sato 2025: N sequences memorized with about sqrt(N) parameters. Importing registers the variants."""

from rote.constructions.kajitsuka2025 import variants as variants
