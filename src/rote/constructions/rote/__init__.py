"""Constructions of our own."""

from rote.constructions.rote import fixed_gates as fixed_gates
from rote.constructions.rote import memory_layer as memory_layer
from rote.constructions.rote import readout as readout
from rote.constructions.rote import selector as selector
