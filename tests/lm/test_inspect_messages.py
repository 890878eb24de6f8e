"""`rote inspect` on what it cannot explain, or only in part: one message each, and nothing written."""

from __future__ import annotations

import pytest

import rote
from rote.cli import main

TEMPLATE = "The capital of {country} is"


def run(capsys, *words):
    code = main(["inspect", *map(str, words)])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize(
    ("kind", "template", "key", "message"),
    [
        ("mamba", TEMPLATE, "Peru", "inspect reads Llama-type models"),
        ("bert", TEMPLATE, "Peru", "is an encoder"),
        ("llama", TEMPLATE, "Atlantis", "the table has no such key; its columns: country"),
        ("llama", "The capital of {land} is", "Peru", "there is no key column 'land'"),
        ("llama", "The capital is", "Peru", "it names no column of the key"),
    ],
)
def test_one_message_and_exit_2(request, capsys, capitals, tmp_path, kind, template, key, message):
    written = tmp_path / "effects.csv"
    folder = request.getfixturevalue(kind)
    code, out, err = run(capsys, folder, key, "--facts", capitals, "--template", template, "--csv", written)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert not written.exists()


def test_a_fact_that_the_model_does_not_know_is_named_and_exits_1(capsys, capitals, llama):
    table = rote.attribution(rote.load_language_model(llama), str(capitals), [TEMPLATE], effects=())
    unknown = next(fact for fact in table.facts if not fact.recalled)
    code, out, _ = run(
        capsys, llama, *unknown.key, "--facts", capitals, "--template", TEMPLATE, "--effect", "zero"
    )  # fmt: skip
    assert code == 1
    assert "no: what follows explains another answer" in out


def test_of_an_answer_of_several_tokens_the_first_is_attributed(capsys, capitals, llama):
    _, out, _ = run(capsys, llama, "America", "--facts", capitals, "--template", TEMPLATE, "--effect", "zero")
    assert "New (first of 2 tokens of 'New York')" in out


def test_a_rote_model_is_inspected_by_the_same_options(capsys, tmp_path):
    table = tmp_path / "facts.csv"
    table.write_text("relation,subject,answer\n" + "".join(f"r,s{n},a{n % 3}\n" for n in range(9)))
    assert main(["build", str(table), "--method", "dana2025.theorem1", "-o", str(tmp_path / "model")]) == 0
    capsys.readouterr()
    code, out, _ = run(capsys, tmp_path / "model", "r", "s4", "--effect", "mean", "--csv", tmp_path / "effects.csv")
    assert code == 0
    assert "head 0.0" in out
    assert len((tmp_path / "effects.csv").read_text().splitlines()) > 2
    for more, message in (
        (["--template", TEMPLATE], "reads keys, not sentences"),
        (["--dtype", "float16"], "leave out the options that load language models"),
        (["--effect", "mean", "--off", "0.0"], "components are ablated one by one"),
        (["--sets", "--unknown"], "cannot be lost"),
    ):
        code, out, err = run(capsys, tmp_path / "model", *more)
        assert (code, out) == (2, "")
        assert message in " ".join(err.split())
    assert main(["build", str(table), "--method", "dana2025.proposition3", "-o", str(tmp_path / "table")]) == 0
    capsys.readouterr()
    code, _, err = run(capsys, tmp_path / "table", "--effect", "mean")
    assert code == 2
    assert "has no attention heads" in err
