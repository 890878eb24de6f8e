"""Madden, Fox and Thrampoulidis 2025: a neuron per context."""

from rote.constructions.madden2025 import associations as associations
from rote.constructions.madden2025 import distributions as distributions
