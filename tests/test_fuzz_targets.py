"""Every target of tools/fuzz.py takes its seeds, damaged ones too; the search itself needs atheris (`make fuzz`)."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

from hostile.texts import damaged

pytest.importorskip("fastapi", reason="the page needs the package fastapi")

SPEC = importlib.util.spec_from_file_location("fuzz", Path(__file__).parents[1] / "tools" / "fuzz.py")
assert SPEC is not None
assert SPEC.loader is not None
fuzz = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fuzz)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_a_target_takes_its_seeds_and_damaged_ones(name, tmp_path):
    fuzz.seeds(name, tmp_path)
    attempt, rng = fuzz.TARGETS[name](), random.Random(name)
    for path in sorted(tmp_path.iterdir())[:8]:
        attempt(path.read_bytes())
        attempt(path.read_bytes()[:1] + damaged(path.read_bytes()[1:], rng))


def test_a_file_left_in_the_folder_is_seen(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    attempt = fuzz._replacing(tmp_path, ("file",), lambda: (tmp_path / "left").touch())
    with pytest.raises(AssertionError, match="left"):
        attempt(b"\0y")
