"""The version of rote, written here alone: the distribution's metadata are made from it."""

__version__ = "0.1.0"
