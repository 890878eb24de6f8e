"""Theorem 4.1 and its variants: every label right, exactly and in floating point, or refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rote
from rote.constructions.kajitsuka2025.sequence_to_sequence import (
    positions_recalled,
    random_sequences,
    sequence_to_sequence,
)
from rote.constructions.kajitsuka2025.transformer import Facts, account, assemble
from rote.constructions.vardi2022.exact import exact_values, hidden
from rote.constructions.vardi2022.floating import stacked
from rote.errors import InputError
from rote.folders import read_folder, verify, write_folder
from rote.models.forward.deep_relu import relu_layers
from rote.tasks import AssociationTask, Origin, VectorTask, Vocabulary

VARIANTS = ("theorem4_1", "corollary4_1", "deep_sets", "embedding_table", "limited_bits")


def labelled(count, length, labels, tokens=300, seed=0):
    sequences = random_sequences(count, length, tokens, seed)
    return sequences, np.random.default_rng(seed + 1).integers(0, labels, count)


def multisets(count, length, labels, tokens=300, seed=0):
    sequences, answers = labelled(count, length, labels, tokens, seed)
    return AssociationTask(sequences - 1, answers, Vocabulary.numbered(max(tokens, labels)))


def ordered(vocab, context, facts, seed=0):
    rng = np.random.default_rng(seed)
    contexts = np.unique(rng.integers(0, vocab, (3 * facts, context)), axis=0)
    contexts = contexts[rng.permutation(len(contexts))[:facts]]
    return AssociationTask(contexts, rng.integers(0, vocab, len(contexts)), Vocabulary.numbered(vocab))


@pytest.mark.parametrize("labels", [2, 50])
def test_faithful_exact_depth_grows_as_the_root(labels):
    sizes, depths = [16, 64, 256, 1024], []
    for size in sizes:
        sequences, answers = labelled(size, 8, labels, 1000)
        transformer = assemble(Facts(sequences, answers, 8), "faithful")
        assert np.array_equal(transformer.labels(sequences), answers)
        assert transformer.width <= 14
        depths.append(transformer.depth)
    exponent = np.polyfit(np.log(sizes), np.log(depths), 1)[0]
    assert 0.45 <= exponent <= 0.62


@pytest.mark.parametrize("storage", ["faithful", "lean", "hashed"])
def test_exact_and_floating_agree_on_every_hidden_value(storage):
    sequences, answers = labelled(256, 8, 50)
    transformer = assemble(Facts(sequences, answers, 8), storage, 53)
    ids = transformer.codes.of(sequences).sum(1)
    for net, inputs in ((transformer.first, np.unique(sequences)), (transformer.second, ids)):
        stack = stacked(net, 14, torch.float64)
        floats = relu_layers(stack.weight, stack.bias, stack.placed({"x": torch.from_numpy(inputs)}))
        for layer, exact, state in zip(net.layers, hidden(net, {"x": exact_values(inputs)}), floats, strict=True):
            for row, neuron in enumerate(layer):
                assert state[row].tolist() == [float(value) for value in exact[neuron.name]]


@pytest.mark.parametrize("length", [7, 8, 13])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_length_is_right_in_floating_point(length, dtype):
    built = rote.build(multisets(300, length, 10), "kajitsuka2025.theorem4_1", dtype=dtype, ordered=False)
    assert built.certificate.recalled == 300
    assert built.certificate.min_margin == 1
    assert (built.certificate.measured["snap_layers"] > 0) == (length != 8)


def test_without_snapping_a_length_that_is_no_power_of_two_goes_wrong():
    """The softmax's 1/7 is rounded, so averages are not whole; a network that takes them for whole can fail."""
    sequences, answers = labelled(300, 7, 10)
    facts = Facts(sequences, answers, 7)
    unsnapped = assemble(facts, "lean", 24, mixing="sum")
    ids = torch.from_numpy(unsnapped.codes.of(sequences)).float()
    rounded = (ids * 7) @ torch.zeros(7).softmax(0)
    assert not torch.equal(rounded, ids.sum(1))
    stack = stacked(unsnapped.second, 14, torch.float32)
    wrong = stack.evaluate({"x": rounded})["y"] != torch.from_numpy(answers)
    assert wrong.any()
    snapped = stacked(assemble(facts, "lean", 24).second, 14, torch.float32)
    assert torch.equal(snapped.evaluate({"x": rounded})["y"], torch.from_numpy(answers).float())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("storage", ["auto", "faithful", "lean", "hashed"])
def test_order_counts_in_fact_tables(variant, storage):
    task = ordered(12, 3, 120)
    built = rote.build(task, f"kajitsuka2025.{variant}", storage=storage)
    assert built.certificate.recalled == 120
    assert built.certificate.min_margin >= 1
    assert built.model.spec.width <= 14


def test_seeds_repeat_and_differ():
    task = ordered(12, 3, 150)
    first, again, other = (
        rote.build(task, "kajitsuka2025.theorem4_1", storage="hashed", seed=seed) for seed in (1, 1, 2)
    )
    assert first.certificate == again.certificate
    assert first.certificate.weights_fingerprint != other.certificate.weights_fingerprint


def test_the_smallest_dtype_that_holds_the_words_is_taken():
    small = rote.build(ordered(12, 3, 100), "kajitsuka2025.theorem4_1")
    assert small.model.dtype_name == "float32"
    # Logits 2ay - a^2 of 4000 labels exceed 2^24.
    rng = np.random.default_rng(0)
    contexts = np.stack([np.arange(4000), rng.integers(0, 4000, 4000)], 1)
    large = AssociationTask(contexts, rng.permutation(4000), Vocabulary.numbered(4000))
    with pytest.raises(InputError, match="need whole numbers of 26 bits, and float32 holds 24"):
        rote.build(large, "kajitsuka2025.embedding_table", dtype="float32")


def test_a_narrower_cast_is_refused(tmp_path):
    built = rote.build(
        multisets(300, 8, 2), "kajitsuka2025.theorem4_1", dtype="float64", storage="hashed", ordered=False
    )
    assert built.model.spec.word_bits > 24
    with pytest.raises(InputError, match=f"computes with {built.model.spec.word_bits} bits"):
        built.model.to(torch.float32)
    with pytest.raises(InputError, match="`dtype=bfloat16`"):
        rote.build(multisets(300, 8, 2), "kajitsuka2025.theorem4_1", dtype="float32", ordered=False).model.to(
            torch.bfloat16
        )


def test_sixteen_bits_are_refused_with_the_bits_needed():
    with pytest.raises(InputError, match=r"in 11 bits; \d+ are needed"):
        rote.build(ordered(12, 3, 200), "kajitsuka2025.theorem4_1", dtype="float16")


def test_a_model_folder_holds_it_like_any_other(tmp_path):
    task = ordered(12, 3, 200)
    built = rote.build(task, "kajitsuka2025.theorem4_1")
    write_folder(tmp_path / "m", built.model, Origin(), built.provenance, built.certificate)
    checked = verify(read_folder(tmp_path / "m"), task)
    assert checked.holds
    assert len(checked.missed) == 0


def test_contradictory_keys_store_the_commonest_answer():
    contexts = np.array([[0, 1], [0, 1], [0, 1], [1, 0]])
    task = AssociationTask(contexts, np.array([2, 3, 3, 1]), Vocabulary.numbered(4))
    built = rote.build(task, "kajitsuka2025.theorem4_1")
    assert built.certificate.recalled == built.certificate.recallable == 3


def test_one_fact_and_one_answer():
    task = AssociationTask(np.array([[2, 0]]), np.array([1]), Vocabulary.numbered(3))
    for variant in VARIANTS:
        assert rote.build(task, f"kajitsuka2025.{variant}").certificate.recalled == 1


def test_order_that_does_not_count_cannot_tell_orders_apart():
    task = AssociationTask(np.array([[0, 1], [1, 0]]), np.array([0, 1]), Vocabulary.numbered(2))
    assert rote.build(task, "kajitsuka2025.theorem4_1").certificate.recalled == 2
    with pytest.raises(InputError, match="not its label"):
        rote.build(task, "kajitsuka2025.theorem4_1", ordered=False)


def test_variants_have_the_tensors_they_say():
    task = ordered(12, 3, 100)
    tensors = {variant: set(rote.build(task, f"kajitsuka2025.{variant}").model.weights) for variant in VARIANTS}
    assert "attention.query" in tensors["theorem4_1"]
    assert "attention.query" not in tensors["deep_sets"]
    assert "before.weight" not in tensors["embedding_table"]
    assert "table" in tensors["embedding_table"]


@pytest.mark.parametrize("bits", [16, 20, 30])
def test_limited_bits_limit_every_parameter(bits):
    built = rote.build(ordered(12, 3, 300), "kajitsuka2025.limited_bits", bits=bits)
    assert built.certificate.recalled == 300
    assert built.certificate.measured["largest_bits"] <= bits
    assert built.model.spec.word_bits <= bits


def test_fewer_bits_take_more_parameters():
    task = multisets(800, 8, 2)
    counts = [
        rote.build(task, "kajitsuka2025.limited_bits", bits=bits, storage="lean", ordered=False).certificate.measured[
            "nonzeros_after"
        ]
        for bits in (17, 24, 48)
    ]
    assert counts[0] > counts[1] >= counts[2]


def test_sequence_to_sequence_is_right_at_every_position():
    rng = np.random.default_rng(0)
    sequences = random_sequences(100, 8, 100) - 1
    # A token that occurs twice in a sequence has one label there.
    by_token = rng.integers(0, 50, (100, 100))
    labels = np.take_along_axis(by_token, sequences, 1)
    for storage in ("lean", "hashed"):
        model, transformer = sequence_to_sequence(sequences, labels, storage)
        assert positions_recalled(model, sequences, labels) == labels.size
        assert transformer.width <= 14
    assert positions_recalled(model, sequences, (labels + 1) % 50) == 0


def test_sequence_to_sequence_refuses_two_labels_for_one_token():
    with pytest.raises(InputError, match="not its label"):
        sequence_to_sequence(np.array([[1, 1]]), np.array([[0, 1]]))
    with pytest.raises(InputError, match="every position"):
        sequence_to_sequence(np.array([[1, 1]]), np.array([0]))


@pytest.mark.parametrize("variant", ["theorem4_1", "corollary4_1", "deep_sets"])
def test_real_valued_tokens(variant):
    rng = np.random.default_rng(0)
    task = VectorTask(rng.standard_normal((120, 4, 6)), rng.standard_normal((120, 6)), labels=rng.integers(0, 7, 120))
    built = rote.build(task, f"kajitsuka2025.{variant}")
    assert built.certificate.recalled == 120
    assert built.certificate.measured["tokens"] == 600
    assert built.certificate.measured["distance"] > 0


def test_real_tokens_with_a_shared_context_ask_by_their_query():
    rng = np.random.default_rng(1)
    shared = VectorTask(rng.standard_normal((1, 5, 4)), rng.standard_normal((60, 4)), labels=rng.integers(0, 5, 60))
    built = rote.build(shared, "kajitsuka2025.corollary4_1")
    assert built.certificate.recalled == 60


def test_real_targets_are_refused():
    task = VectorTask(np.zeros((2, 1, 2)), np.eye(2), targets=np.array([1.0, 2.0]))
    with pytest.raises(InputError, match="stores labels"):
        rote.build(task, "kajitsuka2025.theorem4_1")


def test_accounts_add_up():
    sequences, answers = labelled(200, 8, 4)
    transformer = assemble(Facts(sequences, answers, 8), "lean", 53)
    cost = account(transformer, answers)
    assert cost.depth == transformer.first.depth + transformer.second.depth + 1
    assert cost.nonzeros == transformer.first.nonzeros + transformer.second.nonzeros + 2
    assert cost.nonzeros < cost.dense
    assert cost.total_bits > cost.label_bits
    assert cost.bits_over_entropy == pytest.approx(cost.total_bits / cost.label_bits)
    assert cost.label_bits <= 400


def test_float32_holds_four_thousand():
    built = rote.build(
        multisets(4096, 8, 2), "kajitsuka2025.theorem4_1", dtype="float32", storage="hashed", ordered=False
    )
    assert built.certificate.recalled == 4096
    assert built.certificate.measured["nonzeros_after"] < 0.6 * 4096
