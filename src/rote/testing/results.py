"""What every result must satisfy: it answers for every specification, and its smallest models hold the facts."""

from __future__ import annotations

import json
import typing
from collections.abc import Collection
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.tasks.shape import TaskShape
from rote.testing.specifications import OF_EACH, of_any_size, spec_or_skip
from rote.testing.task_shapes import full_shapes, shapes
from rote.theory import PAPERS, RESULTS
from rote.theory.bound import Kind
from rote.theory.result import ANY
from rote.theory.sizes import task_rank
from rote.theory.smallest import SmallestModel, SmallestSize


def examples(number: int) -> Any:
    """So many examples per test; subclasses of a suite share its test functions."""
    return settings(max_examples=number, suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])


class ResultSuite:
    """Tests of registered results: subclass it and give `ids`.

    >>> from rote.testing import ResultSuite
    >>> class TestMine(ResultSuite):
    ...     ids = ("dana2025.theorem1",)
    """

    ids: ClassVar[Collection[str]] = ()
    """Ids of the results to be tested."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test per result, or per function that gives its smallest model."""
        if "turn" in metafunc.fixturenames:
            turns = [(id, turn) for id in sorted(self.ids) for turn in range(len(RESULTS[id].smallest))]
            metafunc.parametrize(("id", "turn"), turns)
        elif "id" in metafunc.fixturenames:
            metafunc.parametrize("id", sorted(self.ids))

    def test_it_says_what_it_is(self, id: str) -> None:
        known = RESULTS[id]
        assert known.id == id
        assert id.partition(".")[0] == known.paper.id
        assert id.partition(".")[2]
        assert PAPERS[known.paper.id] is known.paper
        assert known.kind in typing.get_args(Kind)
        assert known.statement.strip()
        assert known.source.startswith(known.paper.name)

    @examples(25)
    @given(sizes=of_any_size)
    def test_it_answers_for_every_specification(self, id: str, sizes: dict[str, Any]) -> None:
        known = RESULTS[id]
        bound = known.bound(spec_or_skip(sizes))
        assert (bound.id, bound.kind, bound.source, bound.statement) == (id, known.kind, known.source, known.statement)
        assert bound.reason.strip()
        assert bound.applies or bound.associations is None
        assert bound.associations is None or bound.associations >= 1
        assert bound.parameters is None or bound.parameters >= 1
        json.dumps(bound.model_dump(), allow_nan=False)

    def test_it_answers_for_every_architecture(self, id: str) -> None:
        """Directly if it is about the architecture, else for a matched model of its own, and says which."""
        known = RESULTS[id]
        for spec in OF_EACH:
            bound = known.bound(spec)
            assert bound.about == known.subject
            assert bound.matched == (known.subject not in (ANY, spec.architecture))
            assert bound.applies or bound.associations is None
            assert bound.associations is None or bound.associations >= 1
            json.dumps(bound.model_dump(), allow_nan=False)

    @examples(15)
    @given(shape=shapes())
    def test_its_smallest_model_is_a_size_or_a_reason(self, id: str, turn: int, shape: TaskShape) -> None:
        model = smallest(id, turn, shape)
        if isinstance(model, InputError):
            assert str(model).strip()
            return
        assert model.reason.strip()
        assert model.parameters >= 1
        if isinstance(model, SmallestModel):
            assert model.parameters == model.spec.parameters()
            assert model.spec.context == shape.context
            assert model.spec.vocab in (None, shape.vocab)
        else:
            assert model.description.strip()
            assert model.bits_per_parameter is None or model.bits_per_parameter > 0

    @examples(15)
    @given(shape=full_shapes())
    def test_the_smallest_model_is_guaranteed_the_facts(self, id: str, turn: int, shape: TaskShape) -> None:
        """As it is, or as an attention-only model that matches it: of the same sizes, or with as many parameters in its
        heads."""
        model = smallest(id, turn, shape)
        if isinstance(model, InputError):
            return
        own = [model.spec] if isinstance(model, SmallestModel) else []
        bounds = [RESULTS[id].bound(spec) for spec in (*own, *matched(model, shape))]
        applying = [bound.associations for bound in bounds if bound.associations is not None]
        if applying:
            assert max(applying) >= shape.associations
        else:
            # Theorem 1 and its kin reject dims above the vocabulary, where the corrected rank holds the facts.
            assert all("see rote.rank" in bound.reason for bound in bounds)
            assert isinstance(model, SmallestModel)
            assert (RESULTS["rote.rank"].bound(model.spec).associations or 0) >= shape.associations

    @examples(25)
    @given(shape=shapes())
    def test_an_attention_only_model_holds_the_facts_however_crowded(
        self, id: str, turn: int, shape: TaskShape
    ) -> None:
        """Tokens may occur in some positions only: a layer's rank on the task covers the facts wherever a proof says
        so."""
        model = smallest(id, turn, shape)
        if RESULTS[id].kind != "lower" or not isinstance(model, SmallestModel):
            return
        if isinstance(spec := model.spec, AttentionOnly):
            assert spec.layers == 1
            assert task_rank(shape, spec.dim, spec.head_dim, spec.heads) >= shape.associations
            assert (RESULTS["rote.rank"].bound(spec).associations or 0) >= shape.associations


def smallest(id: str, turn: int, shape: TaskShape) -> SmallestModel | SmallestSize | InputError:
    """The smallest model that a result gives for a task, or why it gives none."""
    try:
        return RESULTS[id].smallest[turn](shape)
    except InputError as refusal:
        return refusal


def matched(model: SmallestModel | SmallestSize, shape: TaskShape) -> list[AttentionOnly]:
    """One-layer specifications that an evaluator may match with the model: itself, or one of the same sizes and one
    whose heads have the parameters of the complete model."""
    spec = getattr(model, "spec", None)
    if isinstance(spec, AttentionOnly) and spec.layers == 1:
        return [spec]
    dim = getattr(spec, "dim", 20)
    same_sizes = AttentionOnly(
        vocab=shape.vocab,
        context=shape.context,
        dim=dim,
        # Wide enough for a head to learn its mask, as huben2023 requires; no other result guarantees more for it.
        head_dim=min(dim, max(getattr(spec, "head_dim", 1), shape.context + 1)),
        heads=getattr(spec, "heads", 1),
    )
    heads = 1 + -(-model.parameters // (4 * dim * same_sizes.head_dim))
    return [same_sizes, same_sizes.model_copy(update={"heads": heads})]
