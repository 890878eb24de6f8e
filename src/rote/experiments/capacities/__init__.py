"""Capacity: the most facts that a model of given sizes recalls, by construction or by training."""
