"""Train a stack of planned trials, or build on the same sequences, and give what the ledger keeps."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from rote.experiments.blocks.trial import BlockTrial, BuiltTrial
from rote.papers.kajitsuka2025.choices import ACCURACY, MEAN_SQUARE, STEPS, WEIGHT_DECAY
from rote.papers.kinds.blocks import RandomSequences, TextSequences
from rote.tasks.labelled_text import LabelledSequences, Tokenisation
from rote.training.uniform_attention.network import BlockShape
from rote.training.uniform_attention.problem import SequenceProblem
from rote.training.uniform_attention.train import LearningSetting, Schedule, train_stack


def trained_records(trial: BlockTrial, texts: str, *, stops: bool) -> list[dict[str, Any]]:
    """Train the stack that a trial belongs to, and give what is recorded of each of its networks, in order."""
    problem, shape = problem_of(trial, texts)
    labelled = problem.labels is not None
    schedule = Schedule(
        STEPS, WEIGHT_DECAY, ACCURACY if stops and labelled else None, MEAN_SQUARE if stops and not labelled else None
    )
    seeds = [
        int(np.random.SeedSequence([trial.seed, trial.blocks, number]).generate_state(1)[0])
        for number in range(trial.first, trial.first + len(trial.stack))
    ]
    settings = [LearningSetting(*proposal) for proposal in trial.stack]
    return [
        {
            "learning_rate": proposal.learning_rate,
            "warm_up": proposal.warm_up,
            "accuracy": trained.accuracy,
            "loss": _number(trained.loss),
            "final_loss": _number(trained.final_loss),
            "steps": trained.steps,
            "tokens": shape.tokens,
            "parameters": shape.parameters,
            "block_parameters": shape.block_parameters,
            "seconds": trained.seconds,
            "curve": [[step, _number(loss), accuracy] for step, loss, accuracy in trained.curve],
        }
        for proposal, trained in zip(trial.stack, train_stack(problem, shape, settings, seeds, schedule), strict=True)
    ]


def _number(value: float) -> float:
    """Five digits; a loss that is no number is kept as one that is larger than any."""
    return float(f"{value:.5g}") if math.isfinite(value) else 1e30


def problem_of(trial: BlockTrial, texts: str) -> tuple[SequenceProblem, BlockShape]:
    """The sequences of a trial, and the shape of its networks."""
    kind = trial.kind
    if isinstance(kind, RandomSequences):
        problem = random_problem(kind, trial.sequences, trial.seed)
        return problem, BlockShape(trial.blocks, kind.width, kind.inner, 1, len(problem.shares), False)
    drawn = sequences_of(kind, texts, trial.sequences, trial.seed)
    table = None
    if kind.embedding == "fixed":
        table = np.random.default_rng([trial.seed, 1]).standard_normal((kind.width, len(drawn.tokens)))
    problem = SequenceProblem.of_tokens(drawn.sequences, len(drawn.tokens), drawn.labels, table=table)
    shape = BlockShape(
        trial.blocks, kind.width, kind.inner, kind.classes, len(drawn.tokens), kind.embedding == "trained"
    )
    return problem, shape


def sequences_of(kind: TextSequences, texts: str, count: int, seed: int) -> LabelledSequences:
    return LabelledSequences.draw(Tokenisation(texts, kind.classes, kind.context, kind.words), count, seed)


def random_problem(kind: RandomSequences, sequences: int, seed: int) -> SequenceProblem:
    """Random vectors, labels +1 and -1. Of each sequence only the first token and how often each other one occurs."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((kind.width, sequences + kind.vectors))
    shares = np.zeros((sequences + kind.vectors, sequences))
    shares[np.arange(sequences), np.arange(sequences)] = 1
    chances = np.full(kind.vectors, 1 / kind.vectors)
    shares[sequences:] = rng.multinomial(kind.context - 1, chances, size=sequences).T
    targets = rng.choice([-1.0, 1.0], sequences)
    return SequenceProblem.of_shares(shares / kind.context, np.arange(sequences), targets=targets, table=table)


def built_record(trial: BuiltTrial, texts: str) -> dict[str, Any]:
    """What Theorem 4.1's construction needs for the same sequences: in exact arithmetic, and as a model of floats."""
    from rote.constructions.build import build
    from rote.constructions.kajitsuka2025.accounting import account
    from rote.constructions.kajitsuka2025.exact import exact_memorizer

    if not isinstance(trial.kind, TextSequences):
        raise TypeError("construction: sequences of texts are built from")
    started = time.thread_time()
    drawn = sequences_of(trial.kind, texts, trial.sequences, trial.seed)
    task = drawn.task()
    exact = exact_memorizer(task, "lean", ordered=False)
    built = build(task, method="kajitsuka2025.theorem4_1", ordered=False)
    return {
        "exact": {**account(exact.transformer, drawn.labels).summary(), "recalled": exact.recalled(task)},
        "float": {
            **built.certificate.measured,
            "recalled": built.certificate.recalled,
            "dtype": built.certificate.dtype,
        },
        "seconds": time.thread_time() - started,
    }
