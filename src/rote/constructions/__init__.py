"""Weights in closed form: one file per construction, a folder per paper. Importing it registers them all."""

from rote.constructions import bietti2023 as bietti2023
from rote.constructions import cabannes2024 as cabannes2024
from rote.constructions import dana2025 as dana2025
from rote.constructions import hebbian2026 as hebbian2026
from rote.constructions import huben2023 as huben2023
from rote.constructions import kajitsuka2025 as kajitsuka2025
from rote.constructions import madden2025 as madden2025
from rote.constructions import mahdavi2024 as mahdavi2024
from rote.constructions import nichani2024 as nichani2024
from rote.constructions import rote as rote
from rote.constructions.construction import CONSTRUCTIONS as CONSTRUCTIONS
