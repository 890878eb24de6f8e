"""Weights in closed form: one file per construction, in a folder per paper or idea. Importing this registers them all."""

from rote.constructions import kajitsuka2025 as kajitsuka2025
from rote.constructions.construction import CONSTRUCTIONS as CONSTRUCTIONS
from rote.constructions.dana2025 import corollary1 as corollary1
from rote.constructions.dana2025 import theorem1 as theorem1
from rote.constructions.dana2025 import theorem1_distribution as theorem1_distribution
from rote.constructions.encoders import proposition2 as proposition2
from rote.constructions.encoders import proposition3 as proposition3
from rote.constructions.encoders import sequence_encoder as sequence_encoder
from rote.constructions.encoders import theorem2 as theorem2
from rote.constructions.mahdavi2024 import theorem1 as mahdavi2024_theorem1
from rote.constructions.memories import bietti2023 as bietti2023
from rote.constructions.memories import cabannes2024 as cabannes2024
from rote.constructions.memories import nichani2024 as nichani2024
from rote.constructions.neurons import huben2023_memory as huben2023_memory
from rote.constructions.neurons import madden2025 as madden2025
from rote.constructions.readout import readout as readout
