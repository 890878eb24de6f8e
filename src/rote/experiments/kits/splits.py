"""The facts of a kit: which are stored, forgotten, kept back, and how each is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rote.errors import InputError
from rote.tasks import AssociationTask
from rote.tasks.spelling import Spelling
from rote.tasks.templates import Template, cells_of, parsed_templates

PERTURBED = 5
"""Wrong answers per fact."""


@dataclass(frozen=True)
class Splits:
    """Rows of a table: all stored ones, those of the forget set, the rest, and facts that no model ever stores."""

    full: np.ndarray
    forget: np.ndarray
    retain: np.ndarray
    holdout: np.ndarray


def split(task: AssociationTask, forget: float, seed: int) -> Splits:
    """A random forget set of this share, and as many facts held out: where possible, of words that stored keys have."""
    count = round(task.facts * forget)
    if not 0 < forget <= 0.4 or count < 1 or task.facts - 2 * count < 2:
        raise InputError(
            f"`forget={forget:g}`: gives {max(0, count)} of {task.facts} facts to forget and as many to hold out; "
            "give a share above 0 and at most 0.4, such as 10%, of enough facts"
        )
    rng = np.random.default_rng(seed)
    order = rng.permutation(task.facts)
    uses = np.bincount(task.contexts.ravel(), minlength=task.vocab)
    held: list[int] = []
    for row in order.tolist():
        tokens = task.contexts[row]
        if len(held) < count and (uses[tokens] > 1).all():
            np.subtract.at(uses, tokens, 1)
            held.append(row)
    more = [row for row in order.tolist() if row not in set(held)]
    held += more[: count - len(held)]
    rest = np.setdiff1d(order, held)
    chosen = np.sort(rng.permutation(rest)[:count])
    return Splits(np.sort(rest), chosen, np.setdiff1d(rest, chosen), np.sort(np.array(held)))


@dataclass(frozen=True)
class Question:
    """One fact as benchmarks ask for it."""

    key: tuple[str, ...]
    question: str
    paraphrases: tuple[str, ...]
    """The same question by other templates, and the key itself."""
    prompt: str
    """The question with {} in the place of the subject."""
    subject: str
    relation: str
    answer: str
    perturbed: tuple[str, ...]
    """Wrong answers that other facts of the same relation have."""
    counterfactual: str
    """The wrong answer that an editor is asked to store; of one word where there is one, which all editors take."""


def questions(task: AssociationTask, templates: Sequence[str], seed: int) -> list[Question]:
    """Every fact in sentences. The subject is the last cell of a key, the relation the cells before it."""
    spelling = Spelling.of(task)
    parsed = parsed_templates(templates, task, spelling)
    cells = [cells_of(task, row) for row in range(task.facts)]
    words = [task.vocabulary.tokens[answer] for answer in task.answers.tolist()]
    by_relation: dict[tuple[str, ...], list[str]] = {}
    for key, answer in zip(cells, words, strict=True):
        by_relation.setdefault(tuple(key[:-1]), []).append(answer)
    rng = np.random.default_rng([seed, 1])
    return [
        _question(row, key, answer, parsed, spelling, task, by_relation[tuple(key[:-1])], words, rng)
        for row, (key, answer) in enumerate(zip(cells, words, strict=True))
    ]


def _question(
    row: int,
    key: list[str],
    answer: str,
    templates: Sequence[Template],
    spelling: Spelling,
    task: AssociationTask,
    related: list[str],
    words: list[str],
    rng: np.random.Generator,
) -> Question:
    plain = spelling.text(task.contexts[row].tolist())
    asked = list(dict.fromkeys([*filter(None, (template.sentence(key) for template in templates)), plain]))
    question = asked[0]
    at = question.rfind(key[-1])
    prompt = question[:at] + "{}" + question[at + len(key[-1]) :]
    others = sorted(set(related) - {answer}) or sorted(set(words) - {answer})
    if not others:
        raise InputError("all facts have the same answer, so that there is no wrong one to compare with")
    wrong: list[str] = rng.permutation(others).tolist()
    new = next((each for each in wrong if " " not in each), wrong[0])
    relation = " ".join(key[:-1]) or "answer"
    return Question(
        tuple(key), question, tuple(asked[1:]), prompt, key[-1], relation, answer, tuple(wrong[:PERTURBED]), new
    )
