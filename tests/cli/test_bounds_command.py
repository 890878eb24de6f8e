"""`rote bounds`: the published numbers, and no heavy import."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SIZES = ["--vocab", 50, "--context", 2, "--dim", 10, "--head-dim", 10, "--heads", 20]


def test_published_numbers(rote):
    found = {item["id"]: item for item in rote("bounds", *SIZES, "--json").json}
    assert all(
        {"id", "kind", "associations", "parameters", "applies", "reason", "source"} <= set(item)
        for item in found.values()
    )
    assert (found["dana2025.theorem1"]["associations"], found["dana2025.theorem1"]["parameters"]) == (210, 9020)
    assert found["mahdavi2024.theorem1"]["associations"] == 21
    assert found["dana2025.previous"]["associations"] == 181


def test_where_theorem_1_fails_the_rank_bound_stands(rote):
    sizes = ["--vocab", 5, "--context", 2, "--dim", 10, "--head-dim", 10, "--heads", 2]
    found = {item["id"]: item for item in rote("bounds", *sizes, "--json").json}
    assert not found["dana2025.theorem1"]["applies"]
    assert "vocab + context - 2" in found["dana2025.theorem1"]["reason"]
    assert found["rote.rank"]["associations"] == 15


def test_the_guarantee_and_the_impossibility_come_first(rote):
    out = rote("bounds", *SIZES).out
    lines, first = out.splitlines(), " ".join(out.partition("\n\n")[0].split())
    assert lines[1].split() == ["guaranteed", "210", "facts", "(rote.rank)"]
    assert lines[2].split() == ["impossible", "more", "than", "2,500", "facts", "(dana2025.proposition1)"]
    assert "whatever the facts, 205" in first
    assert first.endswith("36 results from 13 papers and rote itself")
    titles = ["bounds on this model", "other architectures, of matched size", "orders of growth and estimates"]
    assert [line for line in lines if line in titles] == titles
    assert sum("kim2023.sequences" in line for line in lines) == 1
    assert any(line.startswith("11 results reach all 2,500 contexts") for line in lines)
    every = rote("bounds", *SIZES, "--all").out
    assert "reach all" not in every
    assert "kim2023.sequences" in every


def test_table_shows_what_does_not_apply_and_why(rote):
    outcome = rote("bounds", "--vocab", 5, "--context", 2, "--dim", 10, "--head-dim", 10, "--heads", 2)
    assert outcome.code == 0
    assert "dana2025.theorem1" in outcome.out.split("results whose conditions do not hold")[1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["--heads", -1], "--heads -1: should be greater than or equal to 0"),
        (["--head-dim", 11], "--head-dim 11 exceeds --dim 10"),
        (["--context", 1], "one token leaves attention nothing to do"),
        (["--vocab", 10**30], "should be less than or equal to"),
        (["--vocab", 10**12, "--dim", 10**12, "--heads", 10**12], "cannot be held anywhere"),
        (["--dim", "wide"], "wide"),
    ],
)
def test_senseless_sizes_are_one_message(rote, changed, message):
    sizes = dict(zip(SIZES[::2], SIZES[1::2], strict=True)) | dict(zip(changed[::2], changed[1::2], strict=True))
    outcome = rote("bounds", *(word for pair in sizes.items() for word in pair))
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err


def test_heavy_libraries_are_not_imported():
    script = (
        "import sys, json\n"
        "from rote.cli import main\n"
        f"main({[str(word) for word in ['bounds', *SIZES]]!r})\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stderr))
    heavy = {
        "torch",
        "torch._dynamo",
        "torch._inductor",
        "transformers",
        "ray",
        "scipy",
        "polars",
        "matplotlib",
        "numpy",
    }
    assert not loaded & heavy


def test_the_tables_fit_eighty_columns(rote, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, rote("bounds", *SIZES).out.splitlines())) <= 80
