"""`rote.memory_layer`: equations, groups, and builds that are interrupted."""

from __future__ import annotations

import numpy as np
import pytest
import safetensors.numpy
import torch

import rote
from rote.constructions.choice import LINEAR, LINEAR_FROM
from rote.constructions.rote.memory_layer import groups as group_files
from rote.constructions.rote.memory_layer.layout import default_group
from rote.constructions.rote.memory_layer.peeling import solved
from rote.measure.certificate import weights_fingerprint
from rote.theory.rote_peeling import UNKNOWNS, equations_solved, unknowns_per_head

MANY = "random:vocab=60,context=4,facts=3000,seed=3"
PARTS = {"facts": "random:vocab=60,context=4,facts=8000,seed=3", "facts_per_group": 100}
"""80 groups in five files, all solved with the first hash functions."""


def build(facts=MANY, **options):
    return rote.build(facts, "rote.memory_layer", **options)


def equations(count, per_head, seed):
    generator = np.random.default_rng(seed)
    return generator.integers(per_head, size=(count, UNKNOWNS)) + per_head * np.arange(UNKNOWNS)


def test_peeling_solves_the_equations():
    count, per_head = 2000, unknowns_per_head(2000)
    given = equations(count, per_head, 1)
    sums = np.random.default_rng(2).integers(7, size=(count, 2))
    values = solved(given, sums, UNKNOWNS * per_head, 7)
    assert values is not None
    assert set(np.unique(values)) <= set(range(7))
    assert np.array_equal(values[given].sum(1) % 7, sums)


def test_peeling_says_when_equations_are_left():
    given = equations(2000, 700, 1)  # 1.05 unknowns per equation
    assert solved(given, np.zeros((2000, 1), dtype=np.int64), 2100, 7) is None
    twice = np.array([[0, 1, 2], [0, 1, 2]])
    assert solved(twice, np.array([[0], [1]]), 3, 5) is None


def test_facts_are_spread_evenly_and_read_by_their_own_group():
    built = build(facts_per_group=200)
    spec = built.model.spec
    assert built.certificate.complete
    assert built.certificate.min_margin == 1
    assert spec.groups == 15
    assert spec.slots <= unknowns_per_head(203)
    values = built.model.weights["values"].clone()
    values[7] = (values[7] + 1) % 5
    damaged = rote.Model(spec, {**built.model.weights, "values": values}, built.model.vocabulary)
    missed = rote.recall(damaged, MANY).missed
    assert 100 < len(missed) <= 203


def test_parameters_grow_with_the_facts_alone():
    small, large = (
        build(f"random:vocab=60,context=4,facts={facts},seed=3", facts_per_group=1000) for facts in (2000, 8000)
    )
    more = large.model.parameters - small.model.parameters
    assert 1.23 * 6000 < more < 1.33 * 6000


def test_many_answers_have_two_digits():
    facts = {(str(row // 70), str(1000 + row % 70)): f"answer {row}" for row in range(4000)}
    built = build(facts)
    spec = built.model.spec
    assert built.certificate.complete
    assert (spec.digits, spec.ordered) == (2, False)
    assert built.model.ask("3", "1004").answer == "answer 214"
    assert not built.model.ask("3", "2000").known


def test_order_counts_where_tokens_occur_at_two_places():
    built = build({("a", "b"): "1", ("b", "a"): "2", ("a", "a"): "3"})
    assert built.model.spec.ordered
    assert [built.model.ask(*key).answer for key in ("ab", "ba", "aa")] == ["1", "2", "3"]


def test_all_lines_and_keys_computed_give_the_same_answers(monkeypatch):
    model = build(facts_per_group=200).model
    contexts = rote.facts(MANY).contexts
    searched = model.logits(contexts)
    monkeypatch.setattr("rote.models.forward.memory_transformer._rising", lambda numbers: False)
    assert torch.equal(model.logits(contexts), searched)


def test_an_interrupted_build_resumes_with_the_same_weights(tmp_path, monkeypatch):
    whole = build(**PARTS)
    assert whole.certificate.measured["draws of hash functions"] == 1
    solve, solved_starts = group_files._solve, []

    def interrupted(layout, start, count):
        if start >= 32:
            raise KeyboardInterrupt
        return solve(layout, start, count)

    monkeypatch.setattr(group_files, "_solve", interrupted)
    monkeypatch.setattr(group_files.os, "cpu_count", lambda: 1)
    with pytest.raises(KeyboardInterrupt):
        build(**PARTS, resume=tmp_path / "parts")
    kept = sorted((tmp_path / "parts").iterdir())
    assert len(kept) == 2
    kept[1].write_bytes(kept[1].read_bytes()[:100])  # as a kill in the middle of writing would leave it

    def noted(layout, start, count):
        solved_starts.append(start)
        return solve(layout, start, count)

    monkeypatch.setattr(group_files, "_solve", noted)
    resumed = build(**PARTS, resume=tmp_path / "parts")
    assert len(solved_starts) == 4  # the damaged one and three that were not begun
    assert weights_fingerprint(resumed.model.weights) == weights_fingerprint(whole.model.weights)


def test_parts_of_another_kind_are_made_again(tmp_path):
    build(**PARTS, resume=tmp_path)
    kept = sorted(tmp_path.iterdir())
    arrays = safetensors.numpy.load(kept[0].read_bytes())
    kept[0].write_bytes(safetensors.numpy.save({**arrays, "values": arrays["values"][:1]}))
    kept[1].write_bytes(safetensors.numpy.save({**arrays, "choices": arrays["choices"] + 200}))
    kept[2].write_bytes(safetensors.numpy.save({**arrays, "values": arrays["values"].astype(np.float32)}))
    kept[3].unlink()
    kept[3].symlink_to("/dev/zero")
    assert build(**PARTS, resume=tmp_path).certificate.complete
    assert not kept[3].is_symlink()


def test_parts_of_other_facts_are_not_used(tmp_path):
    build(**PARTS, resume=tmp_path)
    before = set(tmp_path.iterdir())
    other = build("random:vocab=60,context=4,facts=8000,seed=4", facts_per_group=100, resume=tmp_path)
    assert other.certificate.complete
    assert len(set(tmp_path.iterdir()) - before) >= len(before) == 5


@pytest.mark.parametrize("equations", [1, 30, 1000, 8192, 10**6])
def test_the_rule_of_peeling_is_inverted(equations):
    assert equations <= equations_solved(unknowns_per_head(equations)) <= equations + 3


def test_more_groups_than_a_table_is_divided_into_make_groups_larger():
    assert default_group(1_000_000) == 8192
    assert default_group(10_000_000) == 65_536


def test_the_default_for_many_facts_is_the_method_of_linear_time(tmp_path):
    rows = np.random.default_rng(1).permutation(26**4)[: LINEAR_FROM + 100]
    keys = ["".join(chr(97 + row // 26**place % 26) for place in range(4)) for row in rows.tolist()]
    table = tmp_path / "many.csv"
    table.write_text("id,category\n" + "".join(f"{key},{row % 9}\n" for row, key in enumerate(keys)))
    built = rote.build(table, within=0.0)
    assert built.provenance["method"] == LINEAR
    assert any("`within`" in attempt.reason for attempt in built.attempts)
    assert built.certificate.bits_per_parameter > 2
    assert built.runner_up is not None
    assert built.runner_up.method == "dana2025.theorem1"
    assert "export to Llama, GGUF and GPT-2 does not take a memory-transformer" in built.summary()["limits"]
