"""A neuron per fact: MLPs behind random attention, and attention heads that simulate them."""

from rote.constructions.neurons import huben2023_memory as huben2023_memory
from rote.constructions.neurons import madden2025 as madden2025
