"""Every result in rote's own suite (`rote.testing`), and the registry of results."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings

from rote.errors import InputError
from rote.models import ARCHITECTURES
from rote.models.attention_only import AttentionOnly
from rote.testing import ResultSuite
from rote.testing.specifications import OF_EACH, of_any_size
from rote.theory import RESULTS
from rote.theory.bound import Value
from rote.theory.result import result


class TestEveryResult(ResultSuite):
    ids = tuple(RESULTS)


@pytest.mark.parametrize("id", sorted(RESULTS))
def test_contexts_of_any_length_are_answered(id):
    """Longer ones than the suite tries: results of this package do not write N^S out."""
    for context in (2**20, 2**40):
        for vocab in (1, 50, 2**40):
            assert RESULTS[id].bound(AttentionOnly(vocab=vocab, context=context, dim=8, head_dim=4, heads=3)).reason


def test_the_suite_ends_for_an_evaluator_that_counts_all_contexts():
    """N^S can be written out at every size that the suite tries."""
    started = time.process_time()

    @settings(max_examples=100, deadline=None)
    @given(sizes=of_any_size)
    def counted(sizes):
        assert (sizes["vocab"] ** sizes["context"]).bit_length() <= 2**18

    counted()
    assert time.process_time() - started < 20


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
