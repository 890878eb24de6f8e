"""Every result in rote's own suite (`rote.testing`), and the registry of results."""

from __future__ import annotations

import pytest

from rote.errors import InputError
from rote.models import ARCHITECTURES
from rote.models.attention_only import AttentionOnly
from rote.testing import ResultSuite
from rote.testing.specifications import OF_EACH
from rote.theory import RESULTS
from rote.theory.bound import Value
from rote.theory.result import result


class TestEveryResult(ResultSuite):
    ids = tuple(RESULTS)


def test_every_architecture_has_a_result_of_its_own():
    assert set(ARCHITECTURES) <= {known.subject for known in RESULTS.values()}
    for architecture in ARCHITECTURES.values():
        own = [known for known in RESULTS.values() if known.subject == architecture.architecture]
        specs = [spec for spec in OF_EACH if isinstance(spec, architecture)]
        assert any(known.bound(spec).applies for known in own for spec in specs), architecture


def test_an_id_is_registered_once():
    def evaluate(spec: AttentionOnly) -> Value:
        return Value(1, 1, "a second time")

    before = dict(RESULTS)
    with pytest.raises(InputError, match=r"result dana2025\.theorem1: this id is registered already"):
        result("dana2025.theorem1", kind="upper", statement="T = 1")(evaluate)
    with pytest.raises(InputError, match=r"'nobody1999' is no known paper; register it first"):
        result("nobody1999.theorem1", kind="upper", statement="T = 1")(evaluate)
    assert before == RESULTS
