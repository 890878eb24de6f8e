"""Sizes of specifications that bounds are tested on."""

from hypothesis import assume
from hypothesis import strategies as st

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly


def spec_or_skip(sizes: dict) -> AttentionOnly:
    """Made in the test, not by the strategy: the checks of types on the way draw random numbers."""
    try:
        return AttentionOnly(**sizes)
    except InputError:
        assume(False)
        raise


small = st.builds(
    dict,
    vocab=st.integers(1, 60),
    context=st.integers(2, 6),
    dim=st.integers(1, 40),
    head_dim=st.integers(1, 40),
    heads=st.integers(1, 30),
    layers=st.integers(1, 3),
    variant=st.sampled_from(["per-head", "shared"]),
    wide_heads=st.booleans(),
)
"""Sizes for which N^S can be written out."""

_size = st.one_of(st.integers(1, 50), st.integers(0, 40).map(lambda power: 2**power))

of_any_size = st.builds(
    dict,
    vocab=_size,
    context=_size,
    dim=_size,
    head_dim=_size,
    heads=_size,
    layers=st.one_of(st.just(1), _size),
    variant=st.sampled_from(["per-head", "shared"]),
    wide_heads=st.booleans(),
)
"""From one to the largest size that a specification permits."""
