"""Statements that are checked without training: what is evaluated, compared and judged."""
