"""Figures about look-up tables: plan, trials arranged as series, laws, verdicts."""
