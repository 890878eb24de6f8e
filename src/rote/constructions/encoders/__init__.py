"""Sequence encoders: a row per context, the floor under every Transformer of the same embedding dimension."""
