"""`rote doctor`: every engine and width is asked, and a machine that computes wrongly is found out."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from rote.cli import main
from rote.errors import InputError
from rote.experiments import doctor as module
from rote.experiments.doctor import Diagnosis, doctor, engines, threads
from rote.experiments.known_answers import KnownAnswer, arithmetic
from rote.training import native_engine


def test_every_width_is_asked_or_said_not_to_be_there(monkeypatch):
    monkeypatch.setattr(module, "SPECS", module.SPECS[2:3])
    answers = list(engines("cpu"))
    for width in (16, 8, 4):
        own = [answer for answer in answers if f"{width} lanes" in answer.part]
        here = width in native_engine.lanes()
        assert [answer.holds for answer in own] == ([True] * 3 if here else [None])


def test_without_a_native_engine_it_says_so(monkeypatch):
    monkeypatch.setattr(module, "SPECS", ())
    monkeypatch.setattr(native_engine, "lanes", list)
    assert sum("not built" in answer.given for answer in engines("cpu")) == 3
    assert Diagnosis("cpu", ()).engine == "torch on cpu"


def test_gradients_that_are_off_are_found_out(monkeypatch):
    monkeypatch.setattr(module, "SPECS", module.SPECS[2:3])
    right = module.TorchObjective.gradient

    def wrong(self, *given):
        found = right(self, *given)
        return found._replace(gradient=found.gradient * np.float32(1.001))

    monkeypatch.setattr(module.TorchObjective, "gradient", wrong)
    assert [answer.part for answer in engines("cpu") if answer.holds is False] == [
        "torch engine, float32, cpu",
        "torch engine, float64",
    ]


def test_a_device_that_rounds_its_inputs_is_found_out(monkeypatch):
    exact = torch.Tensor.__matmul__

    def rounded(left, right):
        return exact(left.bfloat16().to(left.dtype), right.bfloat16().to(right.dtype))

    monkeypatch.setattr(torch.Tensor, "__matmul__", rounded)
    wrong = [answer for answer in arithmetic("cpu") if not answer.holds]
    assert [answer.question.split(" that ")[0] for answer in wrong] == ["entries of a product of whole numbers"] * 2


def test_results_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr("rote.experiments.doctor.TRAINED_STEPS", 5)
    assert all(answer.holds for answer in threads("cpu"))


@pytest.mark.parametrize(("given", "code"), [(4, 0), (5, 1)])
def test_the_command_exits_by_the_answers(monkeypatch, capsys, given, code):
    answer = KnownAnswer.exactly("arithmetic", "2 + 2", 4, given)
    for name in ("engines", "threads"):
        monkeypatch.setattr(module, name, lambda device: iter(()))
    for name in ("identities", "building"):
        monkeypatch.setattr(module, name, lambda: iter(()))
    monkeypatch.setattr(module, "arithmetic", lambda device: iter((answer,)))
    assert main(["doctor"]) == code
    assert ("numbers can be trusted here" in capsys.readouterr().out) == (code == 0)
    assert main(["doctor", "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert document["trusted"] == (code == 0)
    assert document["answers"][0]["given"] == str(given)


def test_an_error_that_is_not_a_number_does_not_hold():
    assert KnownAnswer.within("arithmetic", "gradients", float("nan"), 1.0).holds is False


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="`device=warp`: cannot be used here"):
        doctor("warp")
