"""Readers: a file or a DataFrame in, a table of text out."""
