"""Weights in closed form: one file per construction, a folder per paper or idea. Importing it registers them all."""

from rote.constructions import dana2025 as dana2025
from rote.constructions import encoders as encoders
from rote.constructions import kajitsuka2025 as kajitsuka2025
from rote.constructions import mahdavi2024 as mahdavi2024
from rote.constructions import memories as memories
from rote.constructions import neurons as neurons
from rote.constructions import readout as readout
from rote.constructions.construction import CONSTRUCTIONS as CONSTRUCTIONS
