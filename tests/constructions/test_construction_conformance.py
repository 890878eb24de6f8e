"""What every construction must satisfy. A new one adds a `Case` in `construction_cases.py` and inherits every check."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from construction_cases import ASSOCIATIONS, CASES, EVERY_KIND

import rote.constructions
from rote.constructions.build import Built, build
from rote.constructions.construction import CONSTRUCTIONS, SIZES, Construction, Options, register
from rote.errors import CheckFailed, InputError, RoteError
from rote.folders import read_folder, verify, write_folder
from rote.measure.fingerprint import weights_fingerprint
from rote.models.model import DTYPES
from rote.tasks import AssociationTask
from rote.tasks.facts import facts
from rote.theory import RESULTS
from rote.theory.papers import PAPERS

each = pytest.mark.parametrize("id", sorted(CASES))
STORED = [
    pytest.param(id, task, id=f"{id}-{number}") for id in sorted(CASES) for number, task in enumerate(CASES[id].tasks)
]
IMPOSSIBLE = [
    pytest.param(id, *given, id=f"{id}-{number}")
    for id in sorted(CASES)
    for number, given in enumerate(CASES[id].impossible)
]

COMMON = {*SIZES, "dtype", "seed"}
"""What every construction can be given, beside its own options."""
REMEDY = re.compile(r"\b(?:give|raise|lower|leave|allow more|try another|use other)\s+([a-z_]+)", re.IGNORECASE)


def built(id: str, task: str, **given: Any) -> Built:
    return build(facts(task), id, **{**CASES[id].settings, **given})


def check_promise(id: str, made: Built) -> None:
    """Everything that can be recalled is, and distributions are met as closely as the case says."""
    certificate = made.certificate
    assert certificate.complete
    assert certificate.meets == CONSTRUCTIONS[id].meets
    if certificate.divergence is not None:
        assert certificate.divergence <= CASES[id].divergence


def check_message(id: str, message: str) -> None:
    """A message names no flag, and no option but those that its reader can give, those to be changed in backticks."""
    assert "--" not in message
    own = COMMON | set(CONSTRUCTIONS[id].options.model_fields)
    options = {name for other in CONSTRUCTIONS.values() for name in other.options.model_fields}
    named = {word for word in re.findall(r"[a-z]\w*", message) if "_" in word and word in options | COMMON}
    bare = {word for word in REMEDY.findall(message) if word in options | COMMON}
    assert not bare, f"{id} names {sorted(bare)} without backticks, so the command line cannot say its flag: {message}"
    named |= set(re.findall(r"`([a-z]\w*)(?:=[^`]*)?`", message))
    assert named <= own, f"{id} names {sorted(named - own)}, which it cannot be given: {message}"


def check_reason(message: str, dtype: str) -> None:
    """A refusal of a dtype says which one, or how many bits were too few."""
    assert dtype in message or "bits" in message, message


def test_every_construction_is_in_the_suite():
    assert set(CASES) == set(CONSTRUCTIONS)


@each
def test_it_meets_a_result_or_says_why_it_meets_none(id):
    construction = CONSTRUCTIONS[id]
    assert construction.id == id
    assert construction.paper in PAPERS
    assert construction.source.startswith(PAPERS[construction.paper].name)
    assert (construction.meets in RESULTS) == (construction.unpromised is None)


@each
def test_it_says_what_its_options_mean(id):
    construction = CONSTRUCTIONS[id]
    assert construction.summary
    assert set(construction.sizes) <= set(SIZES)
    construction.options()


@each
def test_the_suite_has_a_task_of_every_kind_it_takes(id):
    kinds = {type(facts(task)) for task in CASES[id].tasks}
    assert kinds == set(CONSTRUCTIONS[id].tasks)


@pytest.mark.parametrize(("id", "task"), STORED)
def test_it_stores_what_it_promises(id, task):
    for dtype in CASES[id].dtypes:
        made = built(id, task, dtype=dtype)
        assert made.certificate.dtype == dtype
        check_promise(id, made)


@pytest.mark.parametrize(("id", "task"), STORED)
def test_other_dtypes_are_refused_or_say_what_was_lost(id, task):
    for dtype in set(DTYPES) - set(CASES[id].dtypes):
        try:
            made = built(id, task, dtype=dtype)
        except RoteError as error:
            check_message(id, str(error))
            check_reason(str(error), dtype)
        else:
            assert made.certificate.dtype == dtype
            assert made.certificate.complete or not CONSTRUCTIONS[id].exact
    with pytest.raises(InputError, match="`dtype=float8`: is not one of"):
        built(id, task, dtype="float8")


@pytest.mark.parametrize(("id", "task"), STORED)
def test_it_is_the_same_for_the_same_seed(id, task):
    first, again, other = (weights_fingerprint(built(id, task, seed=seed).model.weights) for seed in (0, 0, 1))
    assert first == again
    if not CASES[id].seeded:
        assert first == other


@pytest.mark.parametrize(("id", "task"), STORED)
def test_it_survives_saving_and_loading(id, task, tmp_path):
    made, given = built(id, task), facts(task)
    write_folder(tmp_path / "model", made.model, given.origin, made.provenance, made.certificate)
    loaded = read_folder(tmp_path / "model")
    assert loaded.model.spec == made.model.spec
    rows = slice(0, given.facts)
    assert torch.equal(loaded.model.logits(given.inputs(rows)), made.model.logits(given.inputs(rows)))
    assert verify(loaded, given).holds


@each
def test_foreign_tasks_are_refused(id):
    for kind in EVERY_KIND.keys() - {kind.__name__ for kind in CONSTRUCTIONS[id].tasks}:
        with pytest.raises(InputError, match=f"not a {kind}") as caught:
            built(id, EVERY_KIND[kind])
        check_message(id, str(caught.value))


@pytest.mark.parametrize(("id", "task", "given", "word"), IMPOSSIBLE)
def test_what_is_impossible_is_refused_with_a_reason(id, task, given, word):
    with pytest.raises((InputError, CheckFailed), match=word) as caught:
        built(id, task, **given)
    check_message(id, str(caught.value))


@each
def test_sizes_that_no_model_has_are_refused_at_once(id):
    with pytest.raises(InputError) as caught:
        built(id, CASES[id].tasks[0], dim=0, head_dim=-1, heads=0, seed=-1)
    for name in (*SIZES, "seed"):
        assert f"`{name}=" in str(caught.value)
    check_message(id, str(caught.value))


@each
def test_unknown_options_are_refused_by_name(id):
    with pytest.raises(InputError, match="wisdom") as caught:
        built(id, CASES[id].tasks[0], wisdom=3)
    for name in CONSTRUCTIONS[id].options.model_fields:
        assert name in str(caught.value)


def test_no_message_names_a_flag():
    """Flags are the command line's: a library's caller has options."""
    folder = Path(rote.constructions.__file__).parent
    offences = [
        f"{path.relative_to(folder)}:{number}"
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"(?<!\w)--[a-z]", line)
    ]
    assert not offences


def test_the_registry_is_read_without_torch():
    code = "import sys, rote.constructions as c; assert c.CONSTRUCTIONS; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def example(**changes: Any) -> Construction[AssociationTask, Options]:
    return replace(CONSTRUCTIONS["bietti2023"], **{"id": "bietti2023.again", **changes})


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"id": "bietti2023"}, "registered already"),
        ({"meets": "bietti2023.nothing"}, "'bietti2023.nothing' is no registered result"),
        ({"meets": None}, "unpromised"),
        ({"unpromised": "because"}, "either meets"),
        ({"paper": "bietti1923"}, "no known paper"),
    ],
)
def test_mistakes_in_a_registration_are_refused(changes, word):
    with pytest.raises(InputError, match=word):
        register(example(**changes))
    assert "bietti2023.again" not in CONSTRUCTIONS


def test_a_draft_may_meet_another_result_than_its_construction(monkeypatch):
    construction = CONSTRUCTIONS["bietti2023"]
    variant = replace(construction, build=lambda request: replace(construction.build(request), meets="rote.rank"))
    monkeypatch.setitem(CONSTRUCTIONS, "bietti2023", variant)
    assert built("bietti2023", ASSOCIATIONS).certificate.meets == "rote.rank"
