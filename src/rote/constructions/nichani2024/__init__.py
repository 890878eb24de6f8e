"""Nichani, Lee and Bietti 2024: linear memories whose matrix is trained."""

from rote.constructions.nichani2024 import trained as trained
