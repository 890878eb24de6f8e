"""More facts than Theorem 1 promises: W_O and W_U fitted on fixed random attention."""

from rote.constructions.readout import readout as readout
