"""The facts of this folder as a dataset for lm-evaluation-harness."""

from pathlib import Path

import datasets


def facts(**kwargs):
    """One split, `test`: prompt and answer of every fact."""
    path = Path(__file__).with_name("facts.jsonl")
    return {"test": datasets.Dataset.from_json(str(path), keep_in_memory=True)}
