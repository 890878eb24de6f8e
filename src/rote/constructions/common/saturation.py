"""Where a softmax counts as saturated: by how much one score must lead another, one constant for each use of it.

A score that trails by s gets at most e^-s of the attention. How large s must be depends on what that remainder is
multiplied with, and how large it may be on what else the scores must carry in the same dtype.
"""

from __future__ import annotations

ATTENDED = 30.0
"""Lead of the one token that is attended to, where scores grow with its inverse gaps (the proof of Mahdavi et al.
2024): e^-30 = 9e-14 of a token is below the rounding of every other number there."""

CLOSED = 40.0
"""Lead of a closed gate over every other score: e^-40 = 4e-18 of a feature is below its rounding in float64."""

LARGEST_SCORE = 60.0
"""Lead of an answer's logit where no uncertainty is left and the lead should be infinite: odds of e^-60 change no
divergence that float64 can tell."""

UNSEEN = 128.0
"""Lead of what a mask lets through over what it hides: e^-128 is zero in float32 and 1e-56 in float64, so that even
values as large as a network's sums leave no trace."""

PAD_DEPTH = 512.0
"""How far padding lies below all other tokens: more than twice any other score in use, and a power of two, so that
adding it to a score loses no more bits than it must."""
