"""Huben and Morris 2023: MLP neurons simulated by attention heads."""

from rote.constructions.huben2023 import memory as memory
