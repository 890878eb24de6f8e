"""Taking a fact apart: parts sum to the logit, and a head that is switched off loses what it is said to lose."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rote.errors import InputError
from rote.measure.head_use import facts_lost, head_table
from rote.measure.inspection import HeadIndex, inspect, without_heads
from rote.measure.recall import margins, recall
from rote.models.attention_only import AttentionOnly
from rote.models.linear_memory import LinearMemory
from rote.models.mlp_transformer import MlpTransformer
from rote.tasks.generators import random_associations
from rote.testing.random_models import random_model

SIZES = {"vocab": 12, "context": 3, "dim": 8, "head_dim": 4, "heads": 5}
SPECS = {
    "one layer": AttentionOnly(**SIZES),
    "shared compression": AttentionOnly(**SIZES, variant="shared", scale_scores=True),
    "deep": AttentionOnly(**SIZES, layers=3, positions="every-layer"),
    "one layer, positions read by attention": AttentionOnly(**SIZES, positions="attention"),
    "deep, positions read by attention": AttentionOnly(**SIZES, layers=3, positions="attention"),
    "deep, shared": AttentionOnly(**SIZES, layers=2, variant="shared"),
    "mlp": MlpTransformer(**SIZES, width=6),
    "deep mlp": MlpTransformer(**SIZES, width=6, layers=2, activation="relu"),
}


def facts_and_model(spec, dtype="float64", seed=3):
    """Random facts, and a random model that is asked what it says to them: each fact is recalled by definition."""
    from dataclasses import replace

    task = random_associations(spec.vocab, spec.context, facts=60, seed=seed)
    model = random_model(spec, seed, dtype, task.vocabulary)
    said = model.logits(task.contexts).argmax(1).numpy().astype(np.int32)
    return replace(task, answers=said), model


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", SPECS)
def test_parts_sum_to_the_logits_but_for_rounding(name, dtype):
    task, model = facts_and_model(SPECS[name], dtype)
    eps = torch.finfo(model.dtype).eps
    for row in range(5):
        seen = inspect(model, task[row])
        logits = model.logits(task.contexts[row : row + 1])[0]
        assert seen.answer_logit == float(logits.max())
        for total, logit in (
            (sum(part.to_answer for part in seen.contributions), seen.answer_logit),
            (sum(part.to_nearest for part in seen.contributions), seen.nearest_logit),
        ):
            size = sum(abs(part.to_answer) + abs(part.to_nearest) for part in seen.contributions)
            # Rounding grows with what is summed: dim and context products, layer upon layer.
            assert abs(total - logit) <= 200 * eps * (size + 1)
        assert seen.margin == pytest.approx(
            float(logits.sort().values.diff()[-1]), abs=8 * eps * float(logits.abs().max())
        )
        assert seen.rounding == pytest.approx(0, abs=200 * eps * (size + 1))


@pytest.mark.parametrize("name", SPECS)
def test_what_is_left_without_a_head_is_what_the_model_says_without_it(name):
    task, model = facts_and_model(SPECS[name])
    seen = inspect(model, task[0])
    heads = [part for part in seen.contributions if part.part == "head"]
    assert len(heads) == model.spec.heads * model.spec.layers
    for part in heads:
        logits = without_heads(model, [HeadIndex(part.layer, part.head)]).logits(task.contexts[:1])
        assert part.margin_without == pytest.approx(
            float(margins(logits, torch.from_numpy(task.answers[:1]).long())[0])
        )
        assert part.answer_without == task.vocabulary.tokens[int(logits.argmax())]
        assert sum(part.attention) == pytest.approx(1)
        again = inspect(model, task[0], off=[(part.layer, part.head)])
        assert again.margin == pytest.approx(part.margin_without)
        own = next(other for other in again.contributions if (other.layer, other.head) == (part.layer, part.head))
        assert (own.to_answer, own.to_nearest, own.margin_without) == (0, 0, None)


@pytest.mark.parametrize("name", SPECS)
def test_heads_lose_exactly_the_facts_that_the_table_says(name):
    task, model = facts_and_model(SPECS[name])
    table = head_table(model, task)
    assert table.recalled == task.facts
    assert table.margins.min() == pytest.approx(recall(model, task).min_margin)
    for use in table.heads:
        lost = facts_lost(model, task, [(use.layer, use.head)])
        assert use.loses == len(lost)
        if name == "one layer":
            added = [
                next(
                    p.to_margin
                    for p in inspect(model, task[row]).contributions
                    if p.head == use.head and p.part == "head"
                )
                for row in range(task.facts)
            ]
            assert use.mean_to_margin == pytest.approx(np.mean(added))
            assert use.strongest[0] == int(np.argmax(added))
            assert use.decides == int((np.array(added) >= table.margins).sum()) <= use.loses
    off = [(0, 0), (0, 1)]
    lost = facts_lost(model, task, off)
    silent = [row for row in range(task.facts) if not inspect(model, task[row], off=off).recalled]
    assert silent == lost.tolist()


def test_a_wrong_answer_has_a_negative_margin_and_lower_precision_is_taken_as_it_is():
    task, model = facts_and_model(SPECS["one layer"])
    fact = task[0]
    other = next(word for word in task.vocabulary.tokens if word != fact.answer)
    seen = inspect(model, fact._replace(answer=other))
    assert seen.margin < 0
    assert not seen.recalled
    assert seen.nearest == fact.answer
    coarse = inspect(model.to("bfloat16"), fact)
    assert abs(coarse.rounding) < 0.2
    assert coarse.summary()["contributions"][0]["name"] == "direct path"
    assert "ahead of" in str(coarse)


def test_keys_that_were_never_stored_and_models_without_heads_are_refused():

    task, model = facts_and_model(SPECS["one layer"])
    model = model.with_reader(task)
    key = next(
        key
        for number in range(task.vocab**3)
        if not model.ask(*(key := tuple(str(number // task.vocab**place % task.vocab) for place in range(3)))).known
    )
    with pytest.raises(InputError, match="was never stored"):
        inspect(model, key)
    assert inspect(model, task[0].key).answer == task[0].answer
    with pytest.raises(InputError, match=r"head 0\.9: this model has layers 0 to 0 of heads 0 to 4"):
        inspect(model, task[0].key, off=[(0, 9)])
    memory = random_model(LinearMemory(vocab=12, context=2, inputs=5, dim=4), 0, "float32", task.vocabulary)
    with pytest.raises(InputError, match="no attention heads"):
        inspect(memory, ("1", "2"))
