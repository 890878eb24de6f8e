"""Figures about vector tasks: searches for capacity, published grids, saturation."""
