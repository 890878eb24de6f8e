"""Linear associative memories: outer products, least squares, training."""

from rote.constructions.memories import bietti2023 as bietti2023
from rote.constructions.memories import cabannes2024 as cabannes2024
from rote.constructions.memories import nichani2024 as nichani2024
