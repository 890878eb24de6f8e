"""Every construction in rote's own suite (`rote.testing`): a new one adds a case in `construction_cases.py`."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from construction_cases import ASSOCIATIONS, CASES

import rote.constructions
from rote.constructions.construction import CONSTRUCTIONS, Construction, Options, register_construction
from rote.errors import InputError
from rote.tasks import AssociationTask
from rote.testing import ConstructionSuite


class TestEveryConstruction(ConstructionSuite):
    cases = CASES


def test_every_construction_is_in_the_suite():
    assert set(CASES) == set(CONSTRUCTIONS)


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
    code = "import sys, rote.extend as e; assert e.CONSTRUCTIONS; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def example(**changes: Any) -> Construction[AssociationTask, Options]:
    return replace(CONSTRUCTIONS["bietti2023"], **{"id": "bietti2023.again", **changes})


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"id": "bietti2023"}, "registered already"),
        ({"meets": "bietti2023.nothing"}, "'bietti2023.nothing' is no registered result"),
        ({"meets": None}, "unguaranteed"),
        ({"unguaranteed": "because"}, "either meets"),
        ({"paper": "bietti1923"}, "no known paper"),
    ],
)
def test_mistakes_in_a_registration_are_rejected(changes, word):
    with pytest.raises(InputError, match=word):
        register_construction(example(**changes))
    assert "bietti2023.again" not in CONSTRUCTIONS


def test_a_draft_may_meet_another_result_than_its_construction(monkeypatch):
    construction = CONSTRUCTIONS["bietti2023"]
    variant = replace(construction, build=lambda request: replace(construction.build(request), meets="rote.rank"))
    monkeypatch.setitem(CONSTRUCTIONS, "bietti2023", variant)
    assert rote.build(ASSOCIATIONS, "bietti2023").certificate.meets == "rote.rank"
