"""Models with a memory layer taken apart: parts sum to logits, and ablations are those of the model itself."""

from dataclasses import replace

import pytest
import torch

import rote
from rote.errors import InputError
from rote.measure.head_use import facts_lost, head_table
from rote.measure.inspection import HeadIndex, inspect, transformer_of, without_heads
from rote.measure.slot_sharing import shared_slots

TABLES = {
    "one group": "random:vocab=30,context=2,facts=200,seed=1",
    "several groups": "random:vocab=40,context=3,facts=9000,seed=2",
}


@pytest.fixture(scope="module", params=TABLES)
def stored(request):
    task = rote.facts(TABLES[request.param])
    return task, rote.build(task, "rote.memory_layer").model


def test_parts_sum_to_the_logits_and_values_to_the_number_that_is_read(stored):
    task, model = stored
    for row in (0, 7, task.facts - 1):
        seen = inspect(model, task[row])
        logits = model.logits(task.inputs(slice(row, row + 1)))[0].double()
        token = int(task.answers[row])
        assert seen.answer_logit == logits[token]
        assert seen.rounding == pytest.approx(0, abs=1e-6)
        assert sum(part.to_margin for part in seen.contributions) == pytest.approx(seen.margin, abs=1e-6)
        assert [part.name for part in seen.contributions] == [
            "bias", *(f"head 0.{head}" for head in range(model.spec.heads)), "mlp 0"
        ]  # fmt: skip
        assert seen.summary()["contributions"][1]["slot"]["group"] == seen.contributions[1].slot.group


def test_ablating_a_head_is_setting_its_slots_to_zero(stored):
    task, model = stored
    row = 5
    seen = inspect(model, task[row])
    for head in range(model.spec.heads):
        part = seen.contributions[1 + head]
        silent = inspect(model, task[row], off=[(0, head)])
        assert (silent.said, silent.margin) == (part.answer_without, pytest.approx(part.margin_without))
        assert silent.contributions[1 + head].margin_without is None
        assert silent.contributions[1 + head].slot.values == (0.0,) * model.spec.digits


def test_facts_that_read_a_slot_are_those_whose_margin_moves_without_it(stored):
    task, model = stored
    row = 11
    seen = inspect(model, task[row])
    for shared in shared_slots(model, task, seen):
        slot = shared.slot
        values = model.weights["values"].clone()
        values[slot.group, shared.head, slot.slot] = 0
        ablated = replace(model, weights={**model.weights, "values": values}, precision=None)
        lost = set(rote.recall(ablated, task).missed.tolist())
        assert lost - {row} == set(shared.lost)
        assert row not in shared.facts
        assert set(shared.lost) <= set(shared.facts)
        values[slot.group, shared.head, slot.slot] = 1e6
        moved = rote.recall(ablated, task).margins != rote.recall(model, task).margins
        assert set(moved.nonzero()[0].tolist()) - {row} == set(shared.facts)


def test_heads_over_all_facts(stored):
    task, model = stored
    table = head_table(model, task)
    assert table.recalled == task.facts
    assert table.margins.tolist() == pytest.approx(rote.recall(model, task).margins.tolist())
    for use in table.heads:
        assert use.loses == len(facts_lost(model, task, [(use.layer, use.head)]))
    seen = [inspect(model, task[row]) for row in range(20)]
    some = head_table(model, task.take(slice(0, 20)))
    for head, use in enumerate(some.heads):
        wanted = sum(each.contributions[1 + head].to_margin for each in seen) / 20
        assert use.mean_to_margin == pytest.approx(wanted)


def test_what_does_not_apply_is_one_message(stored):
    task, model = stored
    with pytest.raises(InputError, match="reads one slot of a memory and attends to no token"):
        transformer_of(model)
    with pytest.raises(InputError, match=r"head 1\.0: this model has layers 0 to 0 of heads"):
        without_heads(model, [HeadIndex(1, 0)])
    plain = rote.build({("colour", "plum"): "blue", ("colour", "rose"): "red"}).model
    with pytest.raises(InputError, match="has no memory layer"):
        shared_slots(plain, task, inspect(model, task[0]))
    assert torch.equal(without_heads(model, []).weights["values"], model.weights["values"])
