"""Linear systems of many facts, in float32 with float64 refinement."""
