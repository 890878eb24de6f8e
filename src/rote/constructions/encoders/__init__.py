"""Sequence encoders: a row per context, the floor under every Transformer of the same embedding dimension."""

from rote.constructions.encoders import proposition2 as proposition2
from rote.constructions.encoders import proposition3 as proposition3
from rote.constructions.encoders import sequence_encoder as sequence_encoder
from rote.constructions.encoders import theorem2 as theorem2
