"""The constant that undoes a norm."""

import math

import pytest

from rote.export.common.norm_trick import LARGEST_CONSTANT, SMALLEST_CONSTANT, constant_for


@pytest.mark.parametrize("square", [math.inf, math.nan, 1e300])
def test_a_stream_that_overflows_gets_the_largest_constant(square):
    assert constant_for(square) == LARGEST_CONSTANT


def test_a_small_stream_gets_the_smallest():
    assert constant_for(1.0) == SMALLEST_CONSTANT
