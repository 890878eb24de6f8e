"""Query attention on real texts: definitions of nouns as sequences of word vectors, beside Gaussian vectors.

Word vectors are made from the definitions themselves: positive pointwise mutual information of words that occur in one
definition, and its leading singular vectors. They repeat and correlate as words do. The context is the first n words of
a definition and the query the word after them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

from rote.experiments.statements.encoders import Numbers
from rote.models.query_attention import QueryAttention
from rote.papers.kinds.statement_settings import RealTexts
from rote.tasks import VectorTask
from rote.tasks.generators import random_vectors
from rote.tasks.labelled_text import LabelledSequences, Tokenisation, labelled_texts
from rote.tasks.labelled_text.sequences import WORD
from rote.training.query_attention.train import train_vectors

SOURCE = "wordnet"
WORDS = 2000
"""Words that have a vector; in other words every letter is a token, which has one too."""


def real_text_numbers(cell: RealTexts, seed: int) -> Numbers:
    """Accuracy on real texts with random labels and with their own, and on Gaussian vectors with random labels."""
    guaranteed = cell.heads * (min(cell.context, cell.head_dim) - 1) + 1
    examples = cell.times * guaranteed
    drawn = LabelledSequences.draw(Tokenisation(SOURCE, cell.classes, cell.context + 1, WORDS), examples, seed)
    vectors = word_vectors(cell.dim, cell.classes)
    embedded = np.stack([vectors[token] for token in drawn.tokens])[drawn.sequences]
    contexts, queries = embedded[:, :-1], embedded[:, -1]
    labels = np.random.default_rng([seed, 1]).integers(cell.classes, size=examples)
    tasks = {
        "real": VectorTask(contexts, queries, labels=labels),
        "own_labels": VectorTask(contexts, queries, labels=drawn.labels),
        "gaussian": random_vectors(examples, cell.context, cell.dim, classes=cell.classes, seed=seed),
    }
    spec = QueryAttention.experiment(cell.context, cell.classes, cell.heads, cell.head_dim, cell.dim)
    accuracies = {name: train_vectors(task, spec, seed, "fast").accuracy or 0.0 for name, task in tasks.items()}
    return {
        "examples": examples,
        "parameters": spec.parameters(),
        **accuracies,
        "real_at_bound": accuracies["real"] if cell.times == 1 else None,
        "real_over_gaussian": accuracies["real"] / accuracies["gaussian"] if accuracies["gaussian"] else None,
        "distinct_queries": len(np.unique(drawn.sequences[:, -1])) / examples,
    }


@cache
def word_vectors(dim: int, classes: int) -> dict[str, np.ndarray]:
    """A vector of variance about one for each token that the definitions of these labels are cut into."""
    texts = [WORD.findall(text.lower()) for text in labelled_texts(SOURCE).of_classes(classes).texts]
    counted = Counter(word for text in texts for word in text)
    common = sorted(counted, key=lambda word: (-counted[word], word))[:WORDS]
    letters = sorted({letter for word in counted for letter in word} - set(common))
    number_of = {token: number for number, token in enumerate([*common, *letters])}
    rows, columns = [], []
    for row, text in enumerate(texts):
        known = {token for word in text for token in ([word] if word in number_of else word)}
        rows += [row] * len(known)
        columns += [number_of[token] for token in known]
    shape = (len(texts), len(number_of))
    occurs = csr_matrix((np.ones(len(rows)), (rows, columns)), shape)
    together = (occurs.T @ occurs).toarray()
    alone = np.maximum(np.diag(together), 1.0)
    ratio = together * len(texts) / np.outer(alone, alone)
    information = np.log(np.maximum(ratio, 1.0))
    left, sizes, _ = svds(csr_matrix(information), k=dim, v0=np.ones(len(number_of)))
    vectors = left * np.sqrt(sizes)
    vectors = (vectors - vectors.mean(0)) / vectors.std()
    return dict(zip(number_of, vectors, strict=True))
