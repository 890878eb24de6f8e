"""`rote lm plan`: bits that are new to a model, and LoRA parameters counted by hand."""

from __future__ import annotations

import math

import pytest

import rote
from rote.cli import main
from rote.errors import InputError
from rote.lm.plan import matrices_of, verdict_of

TEMPLATE = ["The capital of {country} is"]


def test_bits_are_the_code_length_of_the_answers(gpt2, capitals):
    model = rote.load_language_model(gpt2)
    planned = rote.lm_plan(model, capitals, TEMPLATE)
    replies = rote.recall(model, capitals, TEMPLATE).replies
    assert planned.new_bits == pytest.approx(-sum(reply.log2_probability for reply in replies))
    assert planned.known == sum(reply.whole_answer for reply in replies)
    assert planned.facts == 5


def test_several_templates_count_the_one_that_knows_the_fact_best(gpt2, capitals):
    model = rote.load_language_model(gpt2)
    templates = [*TEMPLATE, "{country} is called"]
    alone = [rote.lm_plan(model, capitals, [template]).new_bits for template in templates]
    assert rote.lm_plan(model, capitals, templates).new_bits <= min(alone)


def test_parameters_without_those_that_change_nothing(gpt2, capitals):
    """One block of dim 16: c_attn 16 x 48, c_proj 16 x 16, c_fc 16 x 64 and c_proj 64 x 16."""
    model = rote.load_language_model(gpt2)
    one, two = rote.lm_plan(model, capitals, TEMPLATE, ranks=[2, 1]).ranks
    sums = 64 + 32 + 80 + 80
    assert (one.parameters, two.parameters) == (sums, 2 * sums)
    assert (one.effective, two.effective) == (sums - 4, 2 * sums - 4 * 4)
    down = rote.lm_plan(model, capitals, TEMPLATE, modules="down", ranks=[4, 100])
    assert [rank.guaranteed for rank in down.ranks] == [4, 16]
    # No update of a 64 x 16 matrix has more free numbers than the matrix.
    assert down.ranks[1].effective == 64 * 16


def test_matrices_by_role_make_up_all_of_them(gpt2):
    module = rote.load_language_model(gpt2).module
    attention, mlp = matrices_of(module, "attention"), matrices_of(module, "mlp")
    assert {**attention, **mlp} == matrices_of(module, "all")
    assert set(matrices_of(module, "down")) == {"transformer.h.0.mlp.c_proj"}


@pytest.mark.parametrize(
    ("bits", "verdict"),
    [(0.0, "ample"), (0.2, "room"), (2.0, "room"), (2.1, "close"), (3.6, "close"), (3.7, "cannot hold")],
)
def test_verdicts_change_at_the_measured_capacities(bits, verdict):
    assert verdict_of(bits) == verdict


def test_verdicts_follow_measured_capacities(gpt2, capitals):
    model = rote.load_language_model(gpt2)
    planned = rote.lm_plan(model, capitals, TEMPLATE, modules="down", ranks=[1, 64])
    for rank in planned.ranks:
        density = planned.new_bits / rank.effective
        wanted = "ample" if density < 0.2 else "room" if density <= 2 else "close" if density <= 3.6 else "cannot hold"
        assert rank.verdict == wanted
        assert math.isclose(rank.bits_per_parameter, density)
    assert planned.advice.startswith("rank ")


def test_command_prints_a_table_and_rejects_a_missing_column(gpt2, capitals, capsys):
    assert main(["lm", "plan", str(gpt2), str(capitals), "--template", TEMPLATE[0], "--rank", "1", "--rank", "8"]) == 0
    assert "bits new to" in capsys.readouterr().out
    assert main(["lm", "plan", str(gpt2), str(capitals), "--template", "The {land} is"]) == 2
    assert "no key column 'land'" in capsys.readouterr().err
    with pytest.raises(InputError, match="0 is not a rank"):
        rote.lm_plan(rote.load_language_model(gpt2), capitals, TEMPLATE, ranks=[0])
