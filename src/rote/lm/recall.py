"""Recall of facts by a language model: is the first token right, the whole answer, the choice among all answers?

A fact's prompt is a template filled with its key. Right means, all without sampling:

- *first token*: the answer's first token has strictly the largest logit;
- *whole answer*: so has each of its tokens after those before it, which is what greedy decoding says;
- *choice*: of all the answers that the table has for this relation, this one is the likeliest.

Bits by the code: a code that uses the model pays -log2 p(answer | prompt), one that uses the model but not the key pays
-log2 p(answer | neutral prompt), the template about `this country`. The difference, summed over the facts, is what the
model knows of the table: an answer that is likely anyway gives zero gain, and a confident wrong answer a loss.

The likeliest of a table's answers, exactly, without scoring them all.

Answers are paths in a tree of tokens, and no answer is likelier than any of its beginnings. So the likeliest path is
opened first, and an answer that stands at the top of the queue beats all that were never opened.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import torch

from rote.errors import InputError
from rote.folders.layout import is_export
from rote.lm.language_model import LanguageModel, ParameterCount, PromptState
from rote.lm.questions import Questions, in_words, questions, shared_tokens, templates_for
from rote.measure.intervals import Interval, wilson
from rote.progress import SILENT, Progress, Stage
from rote.tasks import AssociationTask


@dataclass
class Node:
    """A beginning that some answers share."""

    path: tuple[int, ...]
    children: dict[int, Node] = field(default_factory=dict)
    answer: int | None = None
    """The answer that ends here."""
    tokens: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def answer_tree(answers: Sequence[Sequence[int]]) -> Node:
    """The tree of these answers; two answers with the same tokens are rejected."""
    root = Node(())
    nodes = [root]
    for number, tokens in enumerate(answers):
        node = root
        for depth, token in enumerate(tokens):
            if token not in node.children:
                node.children[token] = Node(tuple(tokens[: depth + 1]))
                nodes.append(node.children[token])
            node = node.children[token]
        if node.answer is not None:
            raise InputError(f"answers {node.answer} and {number} of the table have the same tokens {list(tokens)}")
        node.answer = number
    for node in nodes:
        node.tokens = np.array(list(node.children), dtype=np.int64)
    return root


class Search:
    """The search for one prompt: `open` names the path to read next; where there is none, `best` is the answer.

    An answer whose log probability is known already (the right one) need not be opened: what is less likely than it
    is never looked at.
    """

    def __init__(self, root: Node, known: int, log_probability: float) -> None:
        self._queue: list[tuple[float, int, Node, np.ndarray, np.ndarray, int]] = []
        self._entries = 0
        self._known, self._reached = known, 0.0
        self.best, self.log_probability = known, log_probability
        self.open: Node | None = root

    def read(self, log_probabilities: np.ndarray) -> None:
        """Go on with the next-token log probabilities (over the vocabulary) after the open path."""
        if self.open is None:
            raise ValueError("the search has ended")
        tokens = self.open.tokens
        scores = self._reached + log_probabilities[tokens].astype(np.float64)
        order = np.argsort(-scores, kind="stable")
        self._push(self.open, tokens[order], scores[order], 0)
        self._advance()

    def _push(self, parent: Node, tokens: np.ndarray, scores: np.ndarray, child: int) -> None:
        """Queue a parent's child number `child`, likeliest first; the next one only when this one is taken."""
        if child < len(tokens) and scores[child] > self.log_probability:
            self._entries += 1
            heapq.heappush(self._queue, (-scores[child], self._entries, parent, tokens, scores, child))

    def _advance(self) -> None:
        self.open = None
        while self._queue:
            negative, _, parent, tokens, scores, child = heapq.heappop(self._queue)
            self._push(parent, tokens, scores, child + 1)
            node = parent.children[int(tokens[child])]
            if node.answer is not None and node.answer != self._known:
                # An answer may also begin longer ones, which are no likelier: the first to be taken is the best.
                self.best, self.log_probability = node.answer, float(-negative)
                self._queue.clear()
            elif node.children:
                self.open, self._reached = node, float(-negative)
                return


SAID_TOKENS = 6
"""Tokens of what a model said instead, at most."""
MEASURES = ("first_token", "whole_answer", "choice")


@dataclass(frozen=True)
class Reply:
    """What a model made of one fact under one template."""

    row: int
    template: str
    relation: str | None
    prompt: str
    answer: str
    first_token: bool
    whole_answer: bool
    choice: bool
    said: str
    """What greedy decoding says in the answer's place."""
    chosen: str
    """The likeliest of the table's answers."""
    log2_probability: float
    neutral_log2_probability: float

    @property
    def bits(self) -> float:
        return self.log2_probability - self.neutral_log2_probability


@dataclass(frozen=True)
class Tally:
    """Replies to one template, of one relation or of all."""

    facts: int
    right: dict[str, int]
    """How many are right, by measure."""
    bits: float

    def interval(self, measure: str) -> Interval:
        return wilson(self.right[measure], self.facts)

    def summary(self) -> dict[str, Any]:
        shares = {name: self.right[name] / self.facts for name in MEASURES}
        intervals = {f"{name}_interval": list(self.interval(name)) for name in MEASURES}
        return {"facts": self.facts, **self.right, "shares": shares, **intervals, "bits": self.bits}


@dataclass(frozen=True)
class LanguageRecall:
    """What a language model recalls of a table."""

    model: str
    dtype: str
    parameters: ParameterCount
    ceiling: float
    replies: tuple[Reply, ...]

    @property
    def templates(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(reply.template for reply in self.replies))

    @property
    def relations(self) -> tuple[str | None, ...]:
        return tuple(dict.fromkeys(reply.relation for reply in self.replies))

    def tally(self, template: str | None = None, relation: str | None = None) -> Tally:
        """The counts of one template, of one relation, of both, or of everything."""
        replies = [
            reply for reply in self.replies if template in (None, reply.template) and relation in (None, reply.relation)
        ]
        right = {name: sum(getattr(reply, name) for reply in replies) for name in MEASURES}
        return Tally(len(replies), right, sum(reply.bits for reply in replies))

    def spread(self, relation: str | None, measure: str) -> tuple[float, float]:
        """Mean over the templates of a relation, and their standard deviation (not a number for one template)."""
        texts = dict.fromkeys(reply.template for reply in self.replies if relation in (None, reply.relation))
        tallies = [self.tally(text, relation) for text in texts]
        shares = [tally.bits if measure == "bits" else tally.right[measure] / tally.facts for tally in tallies]
        return fmean(shares), stdev(shares) if len(shares) > 1 else math.nan

    @property
    def bits(self) -> float:
        """Bits known of the table, each relation at the mean over its templates."""
        return sum(self.spread(relation, "bits")[0] for relation in self.relations)

    @property
    def bits_per_parameter(self) -> float:
        return self.bits / self.parameters.total


def language_recall(
    model: LanguageModel,
    task: AssociationTask,
    templates: Sequence[str] = (),
    *,
    relation: str | None = None,
    batch: int = 64,
    progress: Progress = SILENT,
) -> LanguageRecall:
    """Ask a causal language model for every fact of a table, under each template.

    Without templates, those that come with the table's source. `relation` keeps the facts of one relation; `batch`
    prompts are read at once.
    """
    model.need_causal("recall")
    path = Path(model.name)
    if is_export(path if path.is_dir() else path.parent):
        raise InputError(
            f"{model.name}: is an export of rote, whose tokenizer reads the keys of its own table and no sentence; "
            "`rote verify` asks it for every fact, `rote recall` the model folder that it was made from"
        )
    if batch < 1:
        raise InputError(f"`batch`: {batch} prompts at once are none; give at least 1")
    table = in_words(task)
    if relation is not None:
        rows = table.rows_of(relation)
        if not rows:
            known = ", ".join(sorted({str(name) for name in table.relations if name}))
            raise InputError(f"`relation`: no fact has {relation!r}" + (f"; relations: {known}" if known else ""))
        task = task.take(np.array(rows))
        table = in_words(task)
    asked = [
        questions(model, table, name, template)
        for name, chosen in templates_for(task, table, templates).items()
        for template in chosen
    ]
    with progress.stage(f"asking {model.name}", sum(len(group.rows) for group in asked)) as stage:
        replies = [reply for group in asked for reply in _replies(model, group, batch, stage)]
    return LanguageRecall(model.name, model.dtype_name, model.parameters, task.ceiling, tuple(replies))


def _replies(model: LanguageModel, group: Questions, batch: int, stage: Stage) -> Iterator[Reply]:
    """Batches of prompts of one length, so that nothing is padded."""
    neutral = _neutral(model, group, batch)
    root = answer_tree(group.answer_tokens)
    shared = shared_tokens(group.prompts)
    lengths: dict[int, list[int]] = {}
    for question, prompt in enumerate(group.prompts):
        lengths.setdefault(len(prompt), []).append(question)
    for places in lengths.values():
        for start in range(0, len(places), batch):
            chunk = places[start : start + batch]
            prompts = torch.tensor([group.prompts[question] for question in chunk])
            state, logits = model.read(prompts, min(shared, prompts.shape[1] - 1))
            if not bool(torch.isfinite(logits).all()):
                raise InputError(f"{model.name}: its logits are not finite; try another `dtype`, or check the weights")
            answers = [group.answer_tokens[group.asked[question]] for question in chunk]
            first, whole, scores = _score(model, state, logits, answers)
            said = _greedy(
                model,
                state,
                logits,
                [0 if right else len(answer) for right, answer in zip(whole, answers, strict=True)],
            )
            chosen = _choose(model, state, logits, root, [group.asked[question] for question in chunk], scores)
            stage.advance(len(chunk))
            for number, question in enumerate(chunk):
                answer = group.asked[question]
                yield Reply(
                    row=group.rows[question], template=group.template.text, relation=group.relation,
                    prompt=model.decode(list(group.prompts[question])), answer=group.answers[answer],
                    first_token=bool(first[number]), whole_answer=bool(whole[number]),
                    choice=chosen[number] == answer,
                    said=group.answers[answer] if whole[number] else model.decode(said[number]).strip(),
                    chosen=group.answers[chosen[number]], log2_probability=float(scores[number]) / math.log(2),
                    neutral_log2_probability=neutral[answer],
                )  # fmt: skip


def _neutral(model: LanguageModel, group: Questions, batch: int) -> list[float]:
    """log2 p of each answer after the neutral prompt."""
    state, logits = model.read(torch.tensor([group.neutral]))
    bits = []
    for start in range(0, len(group.answer_tokens), batch):
        answers = group.answer_tokens[start : start + batch]
        once = torch.zeros(len(answers), dtype=torch.long)
        bits += [float(score) / math.log(2) for score in _score(model, state, logits[once], answers, once)[2]]
    return bits


def _score(
    model: LanguageModel,
    state: PromptState,
    logits: torch.Tensor,
    answers: Sequence[Sequence[int]],
    rows: torch.Tensor | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each answer, after its row of the state: first token right, every token right, and its log probability."""
    device = logits.device
    rows = torch.arange(len(answers)) if rows is None else rows
    heads = torch.tensor([answer[0] for answer in answers], device=device)
    first = _strictly_largest(logits, heads).cpu().numpy()
    whole = first.copy()
    scores = logits.double().log_softmax(-1).gather(1, heads[:, None])[:, 0].cpu().numpy()
    lengths: dict[int, list[int]] = {}
    for number, answer in enumerate(answers):
        if len(answer) > 1:
            lengths.setdefault(len(answer), []).append(number)
    for numbers in lengths.values():
        ids = torch.tensor([answers[number] for number in numbers], device=device)
        _, after = model.extend(state, rows[numbers], ids[:, :-1])
        flat, wanted = after.flatten(0, 1), ids[:, 1:].flatten()
        whole[numbers] &= _strictly_largest(flat, wanted).view(len(numbers), -1).all(1).cpu().numpy()
        gained = flat.double().log_softmax(-1).gather(1, wanted[:, None]).view(len(numbers), -1).sum(1)
        scores[numbers] += gained.cpu().numpy()
    return first, whole, scores


def _strictly_largest(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    return (logits >= logits.gather(1, tokens[:, None])).sum(1) == 1


def _greedy(model: LanguageModel, state: PromptState, logits: torch.Tensor, lengths: Sequence[int]) -> list[list[int]]:
    """Greedy decoding for as many tokens as each prompt's answer has."""
    wanted = [min(length, SAID_TOKENS) for length in lengths]
    said: list[list[int]] = [[int(token)] for token in logits.argmax(-1)]
    alive = list(range(len(said)))
    while True:
        going = [question for question, number in enumerate(alive) if len(said[number]) < wanted[number]]
        if not going:
            return said
        alive = [alive[question] for question in going]
        state, after = model.extend(state, torch.tensor(going), torch.tensor([[said[number][-1]] for number in alive]))
        for number, token in zip(alive, after[:, -1].argmax(-1), strict=True):
            said[number].append(int(token))


def _choose(
    model: LanguageModel, state: PromptState, logits: torch.Tensor, root: Node, asked: Sequence[int], scores: np.ndarray
) -> list[int]:
    """The likeliest answer of the tree after each prompt; prompts whose open paths are of one length go together."""
    searches = [Search(root, answer, float(score)) for answer, score in zip(asked, scores, strict=True)]
    for search, row in zip(searches, logits.log_softmax(-1).cpu().numpy(), strict=True):
        search.read(row)
    while True:
        lengths: dict[int, list[int]] = {}
        for number, search in enumerate(searches):
            if search.open is not None:
                lengths.setdefault(len(search.open.path), []).append(number)
        if not lengths:
            return [search.best for search in searches]
        for numbers in lengths.values():
            paths = [node.path for number in numbers if (node := searches[number].open) is not None]
            _, after = model.extend(state, torch.tensor(numbers), torch.tensor(paths))
            for number, row in zip(numbers, after[:, -1].log_softmax(-1).cpu().numpy(), strict=True):
                searches[number].read(row)
