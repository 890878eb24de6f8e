"""`rote.fixed_gates`: attention fixed at random on a few dimensions, everything else fitted."""

from rote.constructions.rote.fixed_gates import fixed_gates as fixed_gates
