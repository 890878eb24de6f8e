"""Every target: written whole, every fact recalled in its own library from text, verified again, or refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from exported_models import known_by_definition, need

from rote.errors import CheckFailed, InputError
from rote.export import TARGETS, export_model, verify_export
from rote.models import AttentionOnly, LinearMemory, MlpTransformer, QueryAttention, SequenceEncoder
from rote.tasks import AssociationTask
from rote.testing.random_models import random_model

pytestmark = pytest.mark.filterwarnings("ignore")

EVERY = sorted(TARGETS)


def failing(verdict) -> set[str]:
    return {check.name for check in verdict.checks if not check.holds}


@pytest.mark.parametrize("target", EVERY)
def test_every_fact_is_recalled_from_text_and_verified_again(target, any_example, tmp_path):
    need(target)
    if target == "onnx" and any_example.built.model.spec.context > 2:
        pytest.skip("text is read from vocab.json as for torch, and tracing the graph again takes seconds")
    exported = export_model(any_example.built, target, tmp_path / "there", any_example.task)
    stated = exported.certificate
    assert stated.read == stated.recalled == stated.facts == any_example.task.facts
    assert stated.generated in (None, stated.facts)
    assert stated.largest_margin_change < stated.min_margin_float64 / 2
    assert all(condition.holds for condition in stated.conditions)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["there"]
    assert verify_export(tmp_path / "there", any_example.task).holds


# The graph of onnx is traced again for each verification, which takes seconds.
@pytest.mark.parametrize("target", [name for name in EVERY if name not in ("lm-eval", "onnx")])
def test_facts_that_changed_and_files_that_changed_are_told(target, words, words_in, tmp_path):
    need(target)
    words_in(target, tmp_path / "there")
    answers = words.task.answers.copy()
    answers[3] = answers[4]
    other = AssociationTask(words.task.contexts, answers, words.task.vocabulary, words.task.origin)
    verdict = verify_export(tmp_path / "there", other)
    assert verdict.missed.tolist() == [3]
    assert {"facts_fingerprint", "recalled"} <= failing(verdict)
    (tmp_path / "there" / "more.txt").write_text("not there before")
    assert failing(verify_export(tmp_path / "there", words.task)) == {"more.txt", "bytes"}


DEEP = {
    "two layers": AttentionOnly(vocab=7, context=3, dim=5, head_dim=5, heads=2, scale_scores=True, layers=2),
    "positions in every layer": AttentionOnly(
        vocab=6, context=3, dim=4, head_dim=2, heads=3, layers=2, positions="every-layer"
    ),
    "positions that attention alone reads": AttentionOnly(
        vocab=6, context=3, dim=4, head_dim=2, heads=3, layers=2, positions="attention"
    ),
    "shared": AttentionOnly(vocab=6, context=3, dim=5, head_dim=3, heads=2, variant="shared", layers=2),
    "rank one": AttentionOnly(vocab=8, context=2, dim=6, head_dim=2, heads=9, query_key_rank=1),
    "gelu": MlpTransformer(vocab=8, context=2, dim=4, head_dim=2, heads=3, width=7),
    "deep relu": MlpTransformer(
        vocab=6, context=3, dim=4, head_dim=2, heads=2, width=5, layers=2, activation="relu", positions="every-layer"
    ),
}


# lm-eval runs the checkpoints of llama and huggingface; tracing a graph takes seconds, and two have all there is.
CASES = [(target, shape) for target in EVERY if target not in ("lm-eval", "onnx") for shape in DEEP]
CASES += [("onnx", "shared"), ("onnx", "deep relu")]


@pytest.mark.parametrize(("target", "shape"), CASES)
def test_deep_and_mlp_models_keep_their_answers(target, shape, tmp_path):
    need(target)
    spec = DEEP[shape]
    model, task = known_by_definition(spec)
    if target == "gguf" and isinstance(spec, MlpTransformer):
        with pytest.raises(InputError, match="SiLU"):
            export_model(model, target, tmp_path / "there", task)
        return
    stated = export_model(model, target, tmp_path / "there", task).certificate
    assert stated.recalled == task.facts > 10
    assert stated.largest_margin_change < 2e-4


@pytest.mark.parametrize("target", ["huggingface", "torch"])
@pytest.mark.parametrize(
    "spec",
    [SequenceEncoder(vocab=6, context=2, contexts=20, dim=4), LinearMemory(vocab=5, context=2, inputs=15, dim=6)],
    ids=["sequence encoder", "linear memory"],
)
def test_models_that_no_plain_checkpoint_holds(target, spec, tmp_path):
    need(target)
    model, task = known_by_definition(spec)
    assert export_model(model, target, tmp_path / "there", task).certificate.recalled == task.facts > 5
    for plain in ("llama", "gpt2", "gguf", "transformerlens", "onnx"):
        need(plain)
        with pytest.raises(InputError, match="torch or huggingface"):
            export_model(model, plain, tmp_path / "elsewhere", task)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("target", EVERY)
def test_a_missing_library_is_one_message_with_the_line_that_installs_it(target, words, tmp_path, monkeypatch):
    if TARGETS[target].extra is None:
        pytest.skip("torch is what rote itself runs on")
    for requirement in TARGETS[target].requirements:
        monkeypatch.setitem(sys.modules, requirement.module, None)
    with pytest.raises(InputError, match="is not installed") as refused:
        export_model(words.built, target, tmp_path / "there", words.task)
    assert f"pip install 'byrote[{TARGETS[target].extra}]'" in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", EVERY)
def test_a_library_that_is_too_old_is_refused(target, words, tmp_path, monkeypatch):
    need(target)
    if TARGETS[target].extra is None:
        pytest.skip("torch is what rote itself runs on")
    monkeypatch.setattr("rote.export.requirement.version", lambda package: "0.0.1")
    with pytest.raises(InputError) as refused:
        export_model(words.built, target, tmp_path / "there", words.task)
    for requirement in TARGETS[target].requirements:
        wanted = f"{requirement.package} 0.0.1 is too old, {requirement.at_least} or later is needed"
        assert wanted in str(refused.value)
    assert f"pip install 'byrote[{TARGETS[target].extra}]'" in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", EVERY)
def test_files_that_the_library_cannot_read_are_one_message_and_nothing_is_left(target, words, tmp_path, monkeypatch):
    need(target)
    kind, libraries = type(TARGETS[target]), TARGETS[target].requirements
    whole = kind.write

    def write_halves(self, subject, folder):
        manifest = whole(self, subject, folder)
        for file in filter(Path.is_file, folder.rglob("*")):
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        return manifest

    monkeypatch.setattr(kind, "write", write_halves)
    with pytest.raises(CheckFailed, match="cannot write or run this model") as refused:
        export_model(words.built, target, tmp_path / "there", words.task)
    assert all(f"{library.package} {library.version}" in str(refused.value) for library in libraries)
    assert "pip install" in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_library_that_refuses_the_files_is_one_message_and_nothing_is_left(words, tmp_path, monkeypatch):
    need("llama")
    monkeypatch.setattr("rote.export.targets.llama.TURN_DIVISOR", "many")
    with pytest.raises(CheckFailed, match=r"transformers .* cannot write or run this model") as refused:
        export_model(words.built, "llama", tmp_path / "there", words.task)
    assert "pip install 'byrote[hf]'" in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_an_export_that_loses_facts_is_not_written(words, tmp_path, monkeypatch):
    need("llama")
    # Angles that are not zero: what an older reader of the file would do.
    monkeypatch.setattr("rote.export.targets.llama.TURN_DIVISOR", 2.0)
    with pytest.raises(CheckFailed, match=r"facts are recalled where the model recalls 100.*rotary angle"):
        export_model(words.built, "llama", tmp_path / "there", words.task)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", ["huggingface", "lm-eval", "transformerlens"])
def test_code_that_was_put_into_a_folder_is_not_run(target, words, words_in, tmp_path):
    need(target)
    words_in(target, tmp_path / "there")
    code = [*(tmp_path / "there").glob("*.py"), *(tmp_path / "there").glob("*.yaml")]
    assert code
    for path in code:
        before = path.read_text()
        path.write_text(before + f"\nopen({str(tmp_path / 'was_run')!r}, 'w')\n")
        with pytest.raises(InputError, match=f"{path.name}: is not what this release of rote writes"):
            verify_export(tmp_path / "there", words.task)
        path.write_text(before)
    assert not (tmp_path / "was_run").exists()
    assert verify_export(tmp_path / "there", words.task).holds


def test_what_has_no_text_is_refused(words, tmp_path):
    vectors = known_by_definition(AttentionOnly(vocab=5, context=2, dim=3, head_dim=2, heads=2))[0]
    with pytest.raises(InputError, match="`facts`: give the facts"):
        export_model(vectors, "torch", tmp_path / "there")
    spec = QueryAttention(context=3, dim=5, head_dim=2, heads=3, outputs=4)
    with pytest.raises(InputError, match="reads vectors"):
        export_model(random_model(spec), "torch", tmp_path / "there", words.task)
    with pytest.raises(InputError, match=r"`to=lama`: there is no such target .did you mean 'llama'"):
        export_model(words.built, "lama", tmp_path / "there", words.task)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten_unless_asked(words, tmp_path):
    export_model(words.built, "torch", tmp_path / "there", words.task)
    before = json.loads((tmp_path / "there" / "certificate.json").read_text())
    with pytest.raises(InputError, match="exists and is not empty"):
        export_model(words.built, "torch", tmp_path / "there", words.task)
    export_model(words.built, "torch", tmp_path / "there", words.task, overwrite=True)
    assert json.loads((tmp_path / "there" / "certificate.json").read_text()) == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="not an exported folder"):
        export_model(words.built, "torch", tmp_path / "other", words.task, overwrite=True)
