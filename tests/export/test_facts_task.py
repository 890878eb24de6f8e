"""A fact table alone as a task for lm-evaluation-harness: read there as it was meant, verified again, or refused."""

from __future__ import annotations

import json
import sys

import pytest
from exported_models import need

from rote.errors import InputError
from rote.export import export_task, verify_export
from rote.tasks import DistributionTask

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_harness_reads_every_fact_and_verifies_until_one_is_changed(padded, tmp_path):
    need("lm-eval")
    stated = export_task(padded.task, tmp_path / "task").certificate
    assert stated.read == stated.facts == padded.task.facts
    assert not (tmp_path / "task" / "model").exists()
    assert verify_export(tmp_path / "task", padded.task).holds
    path = tmp_path / "task" / "facts.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[2]["prompt"] = "unicorn"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    verdict = verify_export(tmp_path / "task", padded.task)
    assert verdict.missed.tolist() == [2]
    assert {check.name for check in verdict.checks if not check.holds} == {"facts.jsonl", "read"}


def test_a_task_needs_facts_with_one_answer_and_the_harness(words, tmp_path, monkeypatch):
    need("lm-eval")
    with pytest.raises(InputError, match="holds distributions; the harness asks for one answer per key"):
        export_task(DistributionTask.from_weighted_facts([(("a", "b"), "c", 1.0)]), tmp_path / "task")
    monkeypatch.setitem(sys.modules, "lm_eval", None)
    with pytest.raises(InputError, match=r"lm-eval is not installed.*pip install 'byrote\[lm-eval\]'"):
        export_task(words.task, tmp_path / "task")
    assert not list(tmp_path.iterdir())
