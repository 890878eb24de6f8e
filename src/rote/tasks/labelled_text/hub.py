"""MultiNLI and IMDb by way of the package `datasets`, where there is a network or they were fetched before."""

from __future__ import annotations

from rote.errors import InputError
from rote.tasks.labelled_text.texts import LabelledTexts

HUB = {
    "multinli": ("nyu-mll/multi_nli", "premise", "MultiNLI, premises"),
    "imdb": ("stanfordnlp/imdb", "text", "IMDb"),
}
"""Name -> repository of the hub, column of the text, and what it is called."""


def texts_of_hub(name: str) -> LabelledTexts:
    """The training part of a data set."""
    repository, column, called = HUB[name]
    try:
        import datasets
    except ImportError:
        raise InputError(
            f"texts: {name} comes by way of the package datasets, which is not installed; pip install datasets, or "
            "give a local file (.jsonl, .csv, .parquet)"
        ) from None
    try:
        rows = datasets.load_dataset(repository, split="train")
    except (OSError, ValueError, RuntimeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"texts: {name} could not be fetched from the hub ({reason}); give a local file (.jsonl, .csv, .parquet), "
            "or use wordnet, which needs no network"
        ) from None
    labels = [str(label) for label in rows["label"]]
    kept = [row for row, label in enumerate(labels) if label != "-1"]
    texts = rows[column]
    return LabelledTexts(called, tuple(texts[row] for row in kept), tuple(labels[row] for row in kept))
