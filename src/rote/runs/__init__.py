"""Runs: the ledger of results, and resuming what was cut short."""

from rote.runs.ledger import Ledger as Ledger
from rote.runs.ledger import TrialKey as TrialKey
from rote.runs.ledger import TrialRow as TrialRow
