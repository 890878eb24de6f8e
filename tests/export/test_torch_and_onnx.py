"""The nn.Module is the model: names, gradients, copies, the way back; and ONNX runs it without torch."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import pytest
import safetensors.torch
import torch
from exported_models import need

import rote
from rote.errors import InputError
from rote.models import DeepRelu, LinearMemory, MemoryTransformer, MlpTransformer, QueryAttention
from rote.testing.random_models import random_model

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    "spec",
    [
        MlpTransformer(vocab=5, context=3, dim=4, head_dim=2, heads=2, width=5, layers=2),
        LinearMemory(vocab=4, context=2, inputs=16, dim=6),
        DeepRelu(vocab=5, context=3, width=6, layers_before=2, layers_after=3, word_bits=8),
        MemoryTransformer(
            vocab=7,
            context=3,
            key_tokens=5,
            dim=4,
            groups=4,
            heads=3,
            slots=6,
            digits=1,
            neurons=2,
            answer_neurons=2,
            word_bits=24,
        ),
        QueryAttention(context=3, dim=5, head_dim=2, heads=3, outputs=4),
    ],
    ids=lambda spec: spec.architecture,
)
def test_a_module_has_the_models_names_and_values(spec):
    model = random_model(spec)
    module = model.to_torch()
    assert set(module.state_dict()) == set(model.weights)
    assert sum(parameter.numel() for parameter in module.parameters()) == model.parameters
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        back = rote.from_torch(other)
        assert back.spec == spec
        assert all(torch.equal(back.weights[name], tensor) for name, tensor in model.weights.items())


def test_a_module_that_was_trained_further_can_be_measured_again(words, words_in, tmp_path):
    module = words.built.model.to_torch()
    contexts, answers = (torch.from_numpy(part).long() for part in (words.task.contexts, words.task.answers))
    torch.nn.functional.cross_entropy(module(contexts), answers).backward()
    assert all(parameter.grad is not None for parameter in module.parameters())
    with torch.no_grad():
        module.unembed.copy_(-module.unembed)
    assert rote.recall(rote.from_torch(module), words.task).recalled == 0
    assert rote.recall(words.built.model, words.task).recalled == words.task.facts

    words_in("torch", tmp_path / "there")
    assert rote.recall(rote.from_torch(tmp_path / "there"), words.task).recalled == words.task.facts
    safetensors.torch.save_file(module.state_dict(), tmp_path / "there" / "state_dict.safetensors")
    assert rote.recall(rote.from_torch(str(tmp_path / "there")), words.task).recalled == 0


def test_what_says_not_which_architecture_it_is_does_not_come_back(tmp_path):
    with pytest.raises(InputError, match="Linear does not say which architecture"):
        rote.from_torch(torch.nn.Linear(2, 2))
    with pytest.raises(InputError, match=r"spec\.json and state_dict\.safetensors missing"):
        rote.from_torch(tmp_path)


ASK = """
import json, sys
sys.modules["torch"] = sys.modules["rote"] = None
import numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1] + "/model.onnx")
tokens = json.load(open(sys.argv[1] + "/vocab.json", encoding="utf-8"))
keys = json.load(sys.stdin)
ids = numpy.array([[tokens.index(word) for word in key] for key in keys])
one = session.run(["logits"], {"contexts": ids[:1]})[0]
every = session.run(["logits"], {"contexts": ids})[0]
assert one.shape == (1, len(tokens)) and every.shape == (len(keys), len(tokens))
print(json.dumps([tokens[row] for row in every.argmax(1)]))
"""


def test_onnxruntime_answers_without_torch(words, words_in, tmp_path):
    need("onnx")
    words_in("onnx", tmp_path / "there")
    facts = [words.task[row] for row in range(words.task.facts)]
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "there")],
        input=json.dumps([fact.key for fact in facts]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [fact.answer for fact in facts]
