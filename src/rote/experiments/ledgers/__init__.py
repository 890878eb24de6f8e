"""Ledgers: every trial of a run, committed when it ends."""
