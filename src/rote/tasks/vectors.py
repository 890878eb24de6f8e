"""Vector tasks: sequences of vectors with a query, and a label or a target (the vision-style setting).

Notation: `examples` is the papers' T, `context` their n, `dim` their d.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from rote.errors import InputError, problems
from rote.tasks.origin import Origin
from rote.tasks.task import Task, digest, entropy_bits


@dataclass(frozen=True, eq=False)
class VectorTask(Task):
    """`contexts` (examples x context x dim, or 1 x context x dim when all examples share one), `queries`
    (examples x dim), and either `labels` (examples) or `targets` (examples x outputs).

    >>> import numpy, rote
    >>> draw = numpy.random.default_rng(0)
    >>> task = rote.VectorTask(draw.normal(size=(8, 3, 4)), draw.normal(size=(8, 4)), labels=numpy.arange(8) % 2)
    >>> task.facts, task.context, task.dim, task.outputs
    (8, 3, 4, 2)
    """

    kind: ClassVar = "vectors"
    reads: ClassVar = "vectors"

    contexts: np.ndarray
    queries: np.ndarray
    labels: np.ndarray | None = None
    targets: np.ndarray | None = None
    origin: Origin = field(default_factory=Origin)

    def __post_init__(self) -> None:
        contexts = np.ascontiguousarray(self.contexts, dtype=np.float64)
        queries = np.ascontiguousarray(self.queries, dtype=np.float64)
        wrong = []
        if contexts.ndim != 3 or queries.ndim != 2 or contexts.shape[-1] != queries.shape[-1]:
            wrong.append(f"contexts {contexts.shape} and queries {queries.shape} do not fit together")
        elif len(contexts) not in (1, len(queries)):
            wrong.append(f"{len(contexts)} contexts for {len(queries)} queries; give one each, or one shared by all")
        if (self.labels is None) == (self.targets is None):
            wrong.append("give either labels or targets")
        for name, given in (("labels", self.labels), ("targets", self.targets)):
            if given is not None and len(given) != len(queries):
                wrong.append(f"{len(queries)} examples but {len(given)} {name}")
        if not np.all(np.isfinite(contexts)) or not np.all(np.isfinite(queries)):
            wrong.append("contexts and queries must be finite")
        if not len(queries):
            wrong.append("there are no examples")
        if wrong:
            raise problems("vector task", wrong)
        object.__setattr__(self, "contexts", contexts)
        object.__setattr__(self, "queries", queries)
        if self.labels is not None:
            labels = np.asarray(self.labels)
            if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer) or labels.min() < 0:
                raise InputError("vector task: labels are whole numbers from 0 on, one per example")
            object.__setattr__(self, "labels", labels.astype(np.int32))
        if self.targets is not None:
            targets = np.asarray(self.targets, dtype=np.float64)
            if not np.all(np.isfinite(targets)):
                raise InputError("vector task: targets must be finite")
            object.__setattr__(self, "targets", targets.reshape(len(queries), -1))

    @property
    def facts(self) -> int:
        """Number of examples."""
        return len(self.queries)

    @property
    def context(self) -> int:
        return self.contexts.shape[1]

    @property
    def dim(self) -> int:
        return self.contexts.shape[2]

    @property
    def shared(self) -> bool:
        """Whether all examples share one context."""
        return len(self.contexts) == 1 and self.facts > 1

    @property
    def outputs(self) -> int:
        """Classes, or the length of a target."""
        if self.labels is not None:
            return int(self.labels.max()) + 1
        return self.targets.shape[1]  # pyright: ignore[reportOptionalMemberAccess]

    def __len__(self) -> int:
        return self.facts

    def __repr__(self) -> str:
        kind = "labels" if self.labels is not None else "targets"
        return f"VectorTask({self.facts} examples, context {self.context}, dim {self.dim}, {kind})"

    def inputs(self, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """What a model's forward pass takes for these rows: contexts and queries."""
        queries = self.queries[rows]
        if len(self.contexts) == 1:
            return np.broadcast_to(self.contexts, (len(queries), *self.contexts.shape[1:])), queries
        return self.contexts[rows], queries

    @property
    def ceiling(self) -> float:
        """Best accuracy on labels of any model: equal inputs with different labels cannot all be right."""
        if self.labels is None:
            return 1.0
        whole = self.queries
        if len(self.contexts) > 1:
            whole = np.concatenate([self.contexts.reshape(self.facts, -1), self.queries], 1)
        _, key = np.unique(whole, axis=0, return_inverse=True)
        pairs, counts = np.unique(np.stack([key.reshape(-1), self.labels], 1), axis=0, return_counts=True)
        best = np.zeros(key.max() + 1, dtype=np.int64)
        np.maximum.at(best, pairs[:, 0], counts)
        return float(best.sum()) / self.facts

    def answers_to_recall(self) -> np.ndarray:
        """The labels."""
        if self.labels is None:
            raise InputError("recall needs labels; this vector task has real targets: measure its error instead")
        return self.labels

    @property
    def entropy_bits(self) -> float | None:
        """Bits in the labels; None for real-valued targets, whose bits depend on the precision."""
        return None if self.labels is None else entropy_bits(np.bincount(self.labels)) * self.facts

    def _fingerprint(self) -> str:
        """One digest per example, sorted: the order of examples does not count, that of vectors in a context does."""
        answers = self.labels if self.labels is not None else self.targets
        parts = [self.queries, np.asarray(answers, dtype=np.float64).reshape(self.facts, -1)]
        shared = [self.contexts] if len(self.contexts) == 1 else []
        if not shared:
            parts.append(self.contexts.reshape(self.facts, -1))
        # Adding zero turns -0.0 into 0.0: equal numbers, equal bytes.
        whole = np.concatenate(parts, axis=1, dtype="<f8") + 0.0
        examples = np.frombuffer(b"".join(sorted(hashlib.sha256(row).digest() for row in whole)), dtype=np.uint8)
        kind = "labels" if self.labels is not None else "targets"
        return digest(f"vectors with {kind}", [], [*shared, examples])

    def take(self, rows: np.ndarray | slice) -> VectorTask:
        """Some of the examples, in the order given."""
        return replace(
            self,
            contexts=self.contexts if len(self.contexts) == 1 else self.contexts[rows],
            queries=self.queries[rows],
            labels=None if self.labels is None else self.labels[rows],
            targets=None if self.targets is None else self.targets[rows],
        )
