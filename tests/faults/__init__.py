"""Faults made on purpose: a disk that fills at a chosen write."""
