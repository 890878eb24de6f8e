"""Every architecture in rote's own suite (`rote.testing`)."""

from __future__ import annotations

import pytest
import torch
from cases import CASES

from rote.models import ARCHITECTURES
from rote.models.forward.architecture import FORWARD
from rote.testing import ArchitectureSuite
from rote.testing.random_models import random_model

SPECS = [spec for case in CASES.values() for spec in case.specs]


class TestEveryArchitecture(ArchitectureSuite):
    cases = CASES


def test_every_architecture_is_in_the_suite():
    assert set(ARCHITECTURES) == set(FORWARD) == {spec.architecture for spec in SPECS}


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_random_model_is_the_same_for_a_seed_in_every_dtype(spec):
    first, again = random_model(spec, 12, "float64"), random_model(spec, 12, "float32")
    other = random_model(spec, 13, "float64")
    assert all(torch.equal(first.to(torch.float32).weights[name], again.weights[name]) for name in first.weights)
    assert any(not torch.equal(first.weights[name], other.weights[name]) for name in first.weights)
