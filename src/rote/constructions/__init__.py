"""Weights in closed form: one file per construction. Importing this package registers them all."""

from rote.constructions import bietti2023 as bietti2023
from rote.constructions import cabannes2024 as cabannes2024
from rote.constructions import dana2025_corollary1 as dana2025_corollary1
from rote.constructions import dana2025_proposition2 as dana2025_proposition2
from rote.constructions import dana2025_proposition3 as dana2025_proposition3
from rote.constructions import dana2025_theorem1 as dana2025_theorem1
from rote.constructions import dana2025_theorem1_distribution as dana2025_theorem1_distribution
from rote.constructions import dana2025_theorem2 as dana2025_theorem2
from rote.constructions import huben2023_memory as huben2023_memory
from rote.constructions import kajitsuka2025 as kajitsuka2025
from rote.constructions import madden2025 as madden2025
from rote.constructions import mahdavi2024_theorem1 as mahdavi2024_theorem1
from rote.constructions import nichani2024 as nichani2024
from rote.constructions import rote_readout as rote_readout
from rote.constructions import sequence_encoder as sequence_encoder
from rote.constructions.construction import CONSTRUCTIONS as CONSTRUCTIONS
