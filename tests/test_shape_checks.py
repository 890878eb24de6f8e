"""The checks that tests put around every function: a wrong type and shapes that do not agree are refused."""

from __future__ import annotations

import pytest
import torch
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float, TypeCheckError
from torch import Tensor

from rote.measure.recall import margins
from shape_checks import CHECKED_CALLS, check, in_first_calls, jaxtyped_where_shapes_are

checked = jaxtyped_where_shapes_are(typechecker=check)


@checked
def doubled(number: int) -> int:
    return 2 * number


@checked
def added(rows: Float[Tensor, "rows columns"], row: Float[Tensor, " columns"]) -> Float[Tensor, "rows columns"]:
    return rows + row


def test_a_wrong_type_is_refused():
    with pytest.raises(BeartypeCallHintViolation):
        doubled("a")


def test_shapes_that_do_not_agree_are_refused():
    assert added(torch.ones(2, 3), torch.ones(3)).sum() == 12
    with pytest.raises(TypeCheckError):
        added(torch.ones(2, 3), torch.ones(1))


def test_a_function_is_checked_in_its_first_calls():
    def tripled(number: int) -> int:
        return 3 * number

    function = in_first_calls(check(tripled), tripled)
    for _ in range(CHECKED_CALLS):
        with pytest.raises(BeartypeCallHintViolation):
            function("a")
    assert function("a") == "aaa"


def test_functions_of_rote_are_checked():
    assert margins.__code__ is in_first_calls(doubled, doubled).__code__
