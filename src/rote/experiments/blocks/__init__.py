"""Figures about F2 . uniform attention . F1: searches for the smallest #blocks, and curves."""
