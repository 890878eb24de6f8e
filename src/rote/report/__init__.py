"""Figures a paper could print."""
