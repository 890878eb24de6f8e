"""Cabannes, Dohmatob and Bietti 2024: what a matrix between fixed embeddings can hold."""

from rote.constructions.cabannes2024 import least_squares as least_squares
