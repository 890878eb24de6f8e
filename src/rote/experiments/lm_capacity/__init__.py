"""Capacity of language models as a run: the points, and the estimate they give."""
