"""What every construction must satisfy: it stores what it guarantees, in the dtypes it names, and rejects the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch

from rote.constructions import CONSTRUCTIONS
from rote.constructions.build import Built, build
from rote.constructions.construction import SIZES
from rote.errors import CheckFailed, InputError, RoteError
from rote.folders import read_folder, verify, write_folder
from rote.measure.certificate import weights_fingerprint
from rote.models.model import DTYPES
from rote.tasks.facts import facts
from rote.theory import PAPERS, RESULTS

FOREIGN = {
    "AssociationTask": "random:vocab=12,context=2,facts=30,seed=1",
    "DistributionTask": "random:kind=distributions,vocab=6,context=2,facts=12,entropy=1.2,prior=zipf,seed=1",
    "VectorTask": "random:kind=vectors,examples=9,context=3,dim=8,classes=4,seed=1",
}
"""A small task of every kind; those that a construction does not take it must reject."""

COMMON = {*SIZES, "dtype", "seed"}
"""What every construction can be given in addition to its own options."""
REMEDY = re.compile(r"\b(?:give|raise|lower|leave|allow more|try another|use other)\s+([a-z_]+)", re.IGNORECASE)


@dataclass(frozen=True)
class ConstructionCase:
    """One construction in the suite.

    >>> from rote.testing import ConstructionCase
    >>> case = ConstructionCase(tasks=("random:vocab=12,context=2,facts=30,seed=1",))
    >>> case.dtypes
    ('float64', 'float32')
    """

    tasks: tuple[str, ...]
    """Small tasks that it stores, at least one of every kind it takes."""
    impossible: tuple[tuple[str, dict[str, Any], str], ...] = ()
    """Tasks with sizes and settings that it must reject, and a word of the message."""
    dtypes: tuple[str, ...] = ("float64", "float32")
    """In which it must keep its guarantee on these tasks; in any other it keeps it or is rejected."""
    divergence: float = 0.0
    """Nats it may be off by, for distributions."""
    settings: dict[str, Any] = field(default_factory=dict)
    seeded: bool = True
    """Whether the weights depend on the seed."""


class ConstructionSuite:
    """Tests of registered constructions: subclass it and give `cases`.

    >>> from rote.testing import ConstructionCase, ConstructionSuite
    >>> class TestMine(ConstructionSuite):
    ...     cases = {"bietti2023": ConstructionCase(tasks=("random:vocab=12,context=2,facts=30,seed=1",))}
    """

    cases: ClassVar[Mapping[str, ConstructionCase]] = {}
    """Ids of constructions, each with the tasks it is tested on."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test per construction, per task it stores, or per request it must reject."""
        asked = set(metafunc.fixturenames)
        if "given" in asked:
            rows = [
                pytest.param(id, *given, id=f"{id}-{number}")
                for id, case in sorted(self.cases.items())
                for number, given in enumerate(case.impossible)
            ]
            metafunc.parametrize(("id", "task", "given", "word"), rows)
        elif "task" in asked:
            rows = [
                pytest.param(id, task, id=f"{id}-{number}")
                for id, case in sorted(self.cases.items())
                for number, task in enumerate(case.tasks)
            ]
            metafunc.parametrize(("id", "task"), rows)
        elif "id" in asked:
            metafunc.parametrize("id", sorted(self.cases))

    def built(self, id: str, task: str, **given: Any) -> Built:
        """The construction's model of a task, with the case's settings."""
        return build(facts(task), id, **{**self.cases[id].settings, **given})

    def test_it_meets_a_result_or_says_why_it_meets_none(self, id: str) -> None:
        construction = CONSTRUCTIONS[id]
        assert construction.id == id
        assert construction.paper in PAPERS
        assert construction.source.startswith(PAPERS[construction.paper].name)
        assert (construction.meets in RESULTS) == (construction.unguaranteed is None)

    def test_it_says_what_its_options_mean(self, id: str) -> None:
        construction = CONSTRUCTIONS[id]
        assert construction.summary
        assert set(construction.sizes) <= set(SIZES)
        construction.options()

    def test_the_case_has_a_task_of_every_kind_it_takes(self, id: str) -> None:
        kinds = {type(facts(task)) for task in self.cases[id].tasks}
        assert kinds == set(CONSTRUCTIONS[id].tasks)

    def test_it_stores_what_it_guarantees(self, id: str, task: str) -> None:
        case = self.cases[id]
        for dtype in case.dtypes:
            certificate = self.built(id, task, dtype=dtype).certificate
            assert certificate.dtype == dtype
            assert certificate.complete
            assert certificate.meets == CONSTRUCTIONS[id].meets
            if certificate.divergence is not None:
                assert certificate.divergence <= case.divergence

    def test_other_dtypes_are_rejected_or_say_what_was_lost(self, id: str, task: str) -> None:
        for dtype in set(DTYPES) - set(self.cases[id].dtypes):
            try:
                made = self.built(id, task, dtype=dtype)
            except RoteError as error:
                check_message(id, str(error))
                check_reason(str(error), dtype)
            else:
                assert made.certificate.dtype == dtype
                assert made.certificate.complete or not CONSTRUCTIONS[id].exact
        with pytest.raises(InputError, match=r"`dtype`: must be one of .*, found 'float8'"):
            self.built(id, task, dtype="float8")

    def test_it_is_the_same_for_the_same_seed(self, id: str, task: str) -> None:
        prints = [weights_fingerprint(self.built(id, task, seed=seed).model.weights) for seed in (0, 0, 1)]
        assert prints[0] == prints[1]
        if not self.cases[id].seeded:
            assert prints[0] == prints[2]

    def test_it_survives_saving_and_loading(self, id: str, task: str, tmp_path: Path) -> None:
        made, given = self.built(id, task), facts(task)
        write_folder(tmp_path / "model", made.model, given.origin, made.provenance, made.certificate)
        loaded = read_folder(tmp_path / "model")
        assert loaded.model.spec == made.model.spec
        rows = slice(0, given.facts)
        assert torch.equal(loaded.model.logits(given.inputs(rows)), made.model.logits(given.inputs(rows)))
        assert verify(loaded, given).holds

    def test_other_kinds_of_tasks_are_rejected(self, id: str) -> None:
        for kind in FOREIGN.keys() - {kind.__name__ for kind in CONSTRUCTIONS[id].tasks}:
            with pytest.raises(InputError, match=f"not a {kind}") as caught:
                self.built(id, FOREIGN[kind])
            check_message(id, str(caught.value))

    def test_what_is_impossible_is_rejected_with_a_reason(
        self, id: str, task: str, given: dict[str, Any], word: str
    ) -> None:
        with pytest.raises((InputError, CheckFailed), match=word) as caught:
            self.built(id, task, **given)
        check_message(id, str(caught.value))

    def test_sizes_that_no_model_has_are_rejected_at_once(self, id: str) -> None:
        with pytest.raises(InputError) as caught:
            self.built(id, self.cases[id].tasks[0], dim=0, head_dim=-1, heads=-1, seed=-1)
        for name in (*SIZES, "seed"):
            assert f"`{name}=" in str(caught.value)
        check_message(id, str(caught.value))

    def test_unknown_options_are_rejected_by_name(self, id: str) -> None:
        with pytest.raises(InputError, match="wisdom") as caught:
            self.built(id, self.cases[id].tasks[0], wisdom=3)
        for name in CONSTRUCTIONS[id].options.model_fields:
            assert name in str(caught.value)


def check_reason(message: str, dtype: str) -> None:
    """A rejection of a dtype says which one, or how many bits were too few."""
    assert dtype in message or "bits" in message, message


def check_message(id: str, message: str) -> None:
    """A message names no flag, and only options that its reader can give; those to be changed are in backticks."""
    assert "--" not in message
    own = COMMON | set(CONSTRUCTIONS[id].options.model_fields)
    options = {name for other in CONSTRUCTIONS.values() for name in other.options.model_fields}
    named = {word for word in re.findall(r"[a-z]\w*", message) if "_" in word and word in options | COMMON}
    bare = {word for word in REMEDY.findall(message) if word in options | COMMON}
    assert not bare, f"{id} names {sorted(bare)} without backticks, so the command line cannot say its flag: {message}"
    named |= set(re.findall(r"`([a-z]\w*)(?:=[^`]*)?`", message))
    assert named <= own, f"{id} names {sorted(named - own)}, which it cannot be given: {message}"
