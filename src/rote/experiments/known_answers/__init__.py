"""Computations with known answers, which `rote doctor` runs on this machine."""
