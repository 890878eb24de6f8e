"""Weights in closed form: one file per construction. Importing this package registers them all."""

from rote.constructions import dana2025_theorem1 as dana2025_theorem1
from rote.constructions.construction import CONSTRUCTIONS as CONSTRUCTIONS
