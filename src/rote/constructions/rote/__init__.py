"""Constructions of our own."""

from rote.constructions.rote import readout as readout
