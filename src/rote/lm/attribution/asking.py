"""Which prompts an attribution asks: by template of a language model, by key of a model that rote built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rote.errors import InputError
from rote.lm.attribution.components import Components, components_of
from rote.lm.attribution.prompts import Prompts, aligned
from rote.lm.attribution.rote_models import as_language_model
from rote.lm.language_model import LanguageModel
from rote.lm.questions import RELATION, Questions, Template, in_words, questions, shared_tokens, templates_for
from rote.measure.matching import for_model
from rote.measure.recall import margins
from rote.models.model import Model
from rote.tasks import require_associations
from rote.tasks.facts import Facts, facts


@dataclass(frozen=True, eq=False)
class AskedPrompts:
    """The prompts of one relation, and which of them are asked about."""

    prompts: Prompts
    places: tuple[int, ...]
    keys: tuple[tuple[str, ...], ...]
    """The key of every prompt."""


def asked_prompts(
    model: LanguageModel | Model,
    task: Facts,
    templates: Sequence[str] = (),
    *,
    relation: str | None = None,
    key: Sequence[str] | None = None,
    known: bool = False,
    unknown: bool = False,
    most: int | None = None,
    batch: int = 32,
) -> tuple[Components, list[AskedPrompts]]:
    """The model's components, and the prompts of each relation that is asked about, under the first template."""
    for name, number in (("batch", batch), ("most", most)):
        if number is not None and number < 1:
            raise InputError(f"`{name}`: {number} facts are none; give at least 1")
    if known and unknown:
        raise InputError("`known`, `unknown`: no fact is both; give one of them, or neither for all facts")
    if isinstance(model, Model):
        if templates:
            raise InputError("`templates`: a model that rote built reads keys, not sentences; leave them out")
        asked_of = as_language_model(model)
        groups = _by_key(model, task, relation, key)
    else:
        asked_of = model
        groups = _by_template(model, task, templates, relation, key)
    parts = components_of(asked_of)
    runs = []
    for group in groups:
        prompts, places = group.prompts, list(group.places)
        if known or unknown:
            right = set(_known(asked_of, prompts, places, 4 * batch))
            places = [at for at in places if (at in right) == known]
        if most is not None and len(places) > most:
            places = [places[number * len(places) // most] for number in range(most)]
        if places:
            runs.append(AskedPrompts(prompts, tuple(places), group.keys))
    if not runs:
        recalls, option = ("every one", "unknown") if unknown else ("none", "known")
        raise InputError(
            f"{asked_of.name}: recalls {recalls} of these facts under this template, so there is nothing to attribute; "
            f"leave out `{option}`, or try another template"
        )
    return parts, runs


def _by_template(
    model: LanguageModel, task: Facts, templates: Sequence[str], relation: str | None, key: Sequence[str] | None
) -> list[AskedPrompts]:
    """Prompts in words, under the first template of each relation."""
    asked = require_associations(facts(task, keys="words"), "a language model is asked for facts with one answer each")
    components_of(model)  # a model that cannot be inspected is rejected before its prompts are read
    table = in_words(asked)
    wanted = _rows([tuple(cells.values()) for cells in table.keys], table.columns, relation, key, table.relations)
    if relation is not None:
        chosen_rows = np.array(table.rows_of(relation))
        asked, wanted = asked.take(chosen_rows), {int(np.searchsorted(chosen_rows, row)) for row in wanted}
        table = in_words(asked)
    groups = []
    for name, chosen in templates_for(asked, table, templates).items():
        if any(table.relations[row] == name for row in wanted):
            prompts = aligned(model, questions(model, table, name, chosen[0]))
            places = tuple(at for at, row in enumerate(prompts.questions.rows) if row in wanted)
            keys = tuple(tuple(table.keys[row].values()) for row in prompts.questions.rows)
            groups.append(AskedPrompts(prompts, places, keys))
    return groups


def _by_key(model: Model, task: Facts, relation: str | None, key: Sequence[str] | None) -> list[AskedPrompts]:
    """Keys as the model reads them; positions are aligned, so each has a role of its own."""
    read = require_associations(facts(task), "components are attributed facts with one answer each")
    fitted = for_model(read, model)
    columns = tuple(read.origin.key_columns or ())
    keys = [tuple(read[row].key) for row in range(read.facts)]
    at = columns.index(RELATION) if RELATION in columns and len(columns) == read.context else None
    relations = [None if at is None else words[at] for words in keys]
    wanted = _rows(keys, columns, relation, key, relations)
    contexts = fitted.contexts.tolist()
    groups = []
    for name in dict.fromkeys(relations):
        rows = [row for row, own in enumerate(relations) if own == name]
        answers = list(dict.fromkeys(read[row].answer for row in rows))
        token = {read[row].answer: int(fitted.answers[row]) for row in rows}
        asked = Questions(
            Template(" ".join(f"{{{column}}}" for column in columns), columns), name, tuple(rows),
            tuple(tuple(contexts[row]) for row in rows), (), tuple(answers),
            tuple((token[answer],) for answer in answers), tuple(answers.index(read[row].answer) for row in rows),
        )  # fmt: skip
        before = min(shared_tokens(asked.prompts), read.context - 1) if len(rows) > 1 else 0
        prompts = Prompts(asked, before, read.context - 1 - before, None)
        if any(row in wanted for row in rows):
            places = tuple(place for place, row in enumerate(rows) if row in wanted)
            groups.append(AskedPrompts(prompts, places, tuple(keys[row] for row in rows)))
    return groups


@torch.inference_mode()
def _known(model: LanguageModel, prompts: Prompts, places: Sequence[int], size: int) -> list[int]:
    """Those of the questions whose first token is right."""
    kept = []
    for block in prompts.batches(places, size):
        logits = prompts.run(model, block.tokens)
        right = margins(logits, prompts.answers(block.places).to(logits.device)) > 0
        kept += [at for at, known in zip(block.places, right.tolist(), strict=True) if known]
    return sorted(kept)


def _rows(
    keys: Sequence[tuple[str, ...]],
    columns: Sequence[str],
    relation: str | None,
    key: Sequence[str] | None,
    relations: Sequence[str | None],
) -> set[int]:
    """The rows of a relation, or those of one key."""
    if relation is not None and relation not in relations:
        names = ", ".join(sorted({str(name) for name in relations if name}))
        raise InputError(f"`relation`: no fact has {relation!r}" + (f"; relations: {names}" if names else ""))
    rows = {row for row in range(len(keys)) if relation in (None, relations[row])}
    if key is None:
        return rows
    words = tuple(key)
    found = {row for row in rows if words in (keys[row], (" ".join(keys[row]),))}
    if not found:
        named = f"; its columns: {', '.join(columns)}" if columns else ""
        raise InputError(f"{' '.join(words)!r}: the table has no such key{named}")
    return found


def with_partners(prompts: Prompts, places: Sequence[int]) -> list[int]:
    """The questions asked; a length with one answer alone gets one question of that length with another answer."""
    group = prompts.questions
    chosen = list(places)
    for length in {len(group.prompts[at]) for at in places}:
        own = {group.answer_tokens[group.asked[at]][0] for at in places if len(group.prompts[at]) == length}
        if len(own) > 1:
            continue
        others = (
            at
            for at, prompt in enumerate(group.prompts)
            if len(prompt) == length and group.answer_tokens[group.asked[at]][0] not in own
        )
        chosen += [at for at in [next(others, None)] if at is not None]
    return chosen
