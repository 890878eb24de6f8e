"""Streaming: bounded memory and complete coverage."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from exact_logits import lookup

from rote.measure.matching import MOST_ROWS, rows_at_once, stream_logits
from rote.models import AttentionOnly, MlpTransformer, QueryAttention
from rote.models.spec import FORWARD_FLOATS
from rote.testing.random_models import random_model

SPECS = [
    AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20),
    AttentionOnly(vocab=150, context=2, dim=32, head_dim=32, heads=311),
    AttentionOnly(vocab=5000, context=6, dim=16, head_dim=16, heads=100),
    AttentionOnly(vocab=70, context=2, dim=10, head_dim=10, heads=21, layers=3),
    MlpTransformer(vocab=50, context=2, dim=10, head_dim=10, width=4000),
    QueryAttention.experiment(context=32, outputs=100),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.architecture)
def test_rows_stay_within_the_budget(spec):
    rows = rows_at_once(random_model(spec))
    assert 1 <= rows <= MOST_ROWS
    assert rows == 1 or spec.floats_held(rows) <= FORWARD_FLOATS
    assert rows == MOST_ROWS or spec.floats_held(2 * rows) > FORWARD_FLOATS


@pytest.mark.parametrize("rows", [None, 1, 13, 100])
def test_every_row_comes_once_and_in_order(rows):
    task = lookup(100, 12)
    model = random_model(AttentionOnly(vocab=12, context=2, dim=4, head_dim=3, heads=3), 0, "float64")
    seen, parts = [], []
    for taken, logits in stream_logits(model, task, rows=rows):
        assert len(logits) == taken.stop - taken.start <= (rows or MOST_ROWS)
        seen += range(100)[taken]
        parts.append(logits)
    assert seen == list(range(100))
    torch.testing.assert_close(torch.cat(parts), model.logits(task.contexts))


@pytest.mark.parametrize("architecture", ["attention-only", "mlp-transformer"])
def test_many_answers_come_in_parts(monkeypatch, architecture):
    """Logits that do not fit the cache are made of a few rows of the stream at a time."""
    monkeypatch.setattr("rote.models.forward.CACHED_FLOATS", 12 * 7)
    sizes = {"vocab": 12, "context": 2, "dim": 4, "head_dim": 3}
    spec = AttentionOnly(**sizes, heads=3) if architecture == "attention-only" else MlpTransformer(**sizes, width=5)
    task, model = lookup(100, 12), random_model(spec, 0, "float64")
    parts = list(stream_logits(model, task, rows=40))
    assert [taken.stop - taken.start for taken, _ in parts] == [7, 7, 7, 7, 7, 5] * 2 + [7, 7, 6]
    assert not any(logits.requires_grad for _, logits in parts)
    torch.testing.assert_close(torch.cat([logits for _, logits in parts]), model.logits(task.contexts))


MANY = """
import resource
import numpy as np, torch
torch.set_num_threads(1)
from rote.measure import recall
from rote.models import AttentionOnly
from rote.testing.random_models import random_model
from rote.tasks import AssociationTask, Vocabulary

def task(facts):
    generator = np.random.default_rng(0)
    return AssociationTask(
        generator.integers(400, size=(facts, 2)), generator.integers(400, size=facts), Vocabulary.numbered(400)
    )

model = random_model(AttentionOnly(vocab=400, context=2, dim=4, head_dim=2, heads=4))
recall(model, task(20_000))
many = task(300_000)
many.ceiling, many.entropy_bits  # the table's own work, not the model's
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
recall(model, many)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_many_facts_take_little_memory():
    """300,000 rows of 400 logits would take 480 MB at once; what recall adds stays far below."""
    tests = Path(__file__).parents[1]
    ran = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=True, cwd=tests)
    grown = int(ran.stdout) / 1024
    logits = 300_000 * 400 * 4 / 2**20
    assert grown < logits / 4, f"{grown:.0f} MiB"


def test_vectors_stream_too():
    from rote.tasks import VectorTask

    generator = np.random.default_rng(0)
    task = VectorTask(generator.uniform(size=(1, 3, 4)), generator.uniform(size=(50, 4)), np.arange(50) % 5)
    model = random_model(QueryAttention(context=3, dim=4, head_dim=2, heads=2, outputs=5), 0, "float64")
    whole = model.logits(task.inputs(slice(None)))
    parts = torch.cat([logits for _, logits in stream_logits(model, task, rows=7)])
    torch.testing.assert_close(parts, whole)
