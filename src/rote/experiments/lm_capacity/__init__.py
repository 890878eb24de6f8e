"""The meter as a run: points, the reading they give, and the study of architectures."""
