"""`rote.memory_layer`: any number of facts in linear time."""

from rote.constructions.rote.memory_layer import memory_layer as memory_layer
