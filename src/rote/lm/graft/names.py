"""Made-up subjects: names from a tokenizer's own vocabulary, which knows many real ones, and from a text."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

import torch
from torch.nn import functional

from rote.lm.language_model import LanguageModel
from rote.lm.questions import RELATION, QuestionTable

WORD_STARTS = ("Ġ", "▁")
"""What vocabularies put before a word for the space that precedes it."""
NAME, PIECE, IN_TEXT = re.compile(r"[A-Z][a-z]{3,}"), re.compile(r"[a-z]{2,}"), re.compile(r"[A-Za-z]{5,12}")
ENOUGH = 200
"""Names of a vocabulary below which words of the text join them."""
SIMILAR = 320
"""Names in each list of those that are most like the stored subjects."""


@dataclass(frozen=True)
class Names:
    """Subjects that are not stored, in four disjoint lists: one pair for the solve, one for the certificate."""

    made_up: list[str]
    similar: list[str]
    """Those of the vocabulary whose embeddings are most like the stored subjects'."""
    held_out: list[str]
    held_out_similar: list[str]


@torch.inference_mode()
def made_up_names(model: LanguageModel, table: QuestionTable, text: str) -> Names:
    """Names of which no stored word begins with one; of made-up ones, half are one token, others are put together."""
    vocabulary, embeddings = model.tokenizer.get_vocab(), model.module.get_input_embeddings().weight.float().cpu()
    subjects = sorted({key[column] for key in table.keys for column in table.columns if column != RELATION})
    words = {word for cell in subjects for word in re.findall(r"\w+", cell)}
    starts = {word[:length] for word in words for length in range(1, len(word) + 1)}
    marked = {token[1:]: number for token, number in vocabulary.items() if token.startswith(WORD_STARTS)}
    known = {
        word: number for word, number in sorted((marked or vocabulary).items())
        if NAME.fullmatch(word) and word not in starts and number < len(embeddings)
    }  # fmt: skip
    used = [ids for ids in model.tokens([f" {subject}" for subject in subjects], marks=False) if ids]
    own = torch.stack([embeddings[ids].mean(0) for ids in used]).mean(0) - embeddings.mean(0)
    likeness = functional.cosine_similarity(embeddings[list(known.values())] - embeddings.mean(0), own[None])
    ranked = [word for _, word in sorted(zip(likeness.tolist(), known, strict=True), reverse=True)]
    number = min(2 * SIMILAR, len(ranked) // 2)
    similar, others = ranked[:number], set(ranked[number:])
    if len(known) < ENOUGH:
        others |= {word.capitalize() for word in IN_TEXT.findall(text)} - starts - set(similar)
    chance, plain = random.Random(0), sorted(others)
    chance.shuffle(plain)
    pieces = sorted(token for token in vocabulary if PIECE.fullmatch(token)) if marked else []
    half = len(plain) // 2
    return Names(
        _varied(plain[:half], pieces, chance), similar[::2], _varied(plain[half:], pieces, chance), similar[1::2]
    )


def _varied(names: list[str], pieces: list[str], chance: random.Random) -> list[str]:
    """Of every four names one becomes two, and one gets a further piece."""
    found = list(names)
    for place, name in enumerate(names):
        if place % 4 == 1:
            found[place] = f"{name} {names[place - 1]}"
        elif place % 4 == 3 and pieces:
            found[place] = name + chance.choice(pieces)
    return found
