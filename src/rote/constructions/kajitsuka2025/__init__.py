"""Kajitsuka and Sato 2025: N sequences memorized with about sqrt(N) parameters. Importing registers the variants."""

from rote.constructions.kajitsuka2025 import corollary4_1 as corollary4_1
from rote.constructions.kajitsuka2025 import deep_sets as deep_sets
from rote.constructions.kajitsuka2025 import embedding_table as embedding_table
from rote.constructions.kajitsuka2025 import limited_bits as limited_bits
from rote.constructions.kajitsuka2025 import theorem4_1 as theorem4_1
