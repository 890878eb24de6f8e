"""`python -m rote`."""

from rote.cli import run

run()
