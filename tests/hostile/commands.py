"""Command lines with something wrong in them."""

from __future__ import annotations

import io
import random
import sys
from pathlib import Path
from unittest.mock import patch

import rote
from hostile.tables import description, table
from hostile.texts import NAMES, NUMBERS, WITH_NUL, damaged
from hostile.watch import Attempt
from rote.cli import main

FACTS = "random:vocab=6,context=2,facts=9,seed=1"
COMMANDS: tuple[list[str], ...] = (
    ["bounds", "--vocab", "5", "--context", "2", "--dim", "3", "--head-dim", "2", "--heads", "2", "--layers", "1"],
    ["plan", FACTS],
    ["build", FACTS, "-o", "out", "--dim", "4", "--head-dim", "4", "--heads", "3", "--seed", "1"],
    ["build", FACTS, "-o", "out", "--method", "dana2025.theorem1", "--set", "score_std=1", "--dtype", "float32"],
    ["train", FACTS, "-o", "out", "--dim", "4", "--heads", "2", "--seeds", "1", "--workers", "1", "--steps", "2"],
    ["ask", "{model}", "1", "2"],
    ["recall", "{model}", FACTS],
    ["verify", "{model}", FACTS],
    ["inspect", "{model}", "1", "2", "--off", "0.0"],
    ["export", "{model}", "--to", "torch", "-o", "out"],
    ["list", "methods"],
    ["list", "papers"],
    ["show", "dana2025"],
    ["sweep", "--vocab", "5", "--heads", "1", "--dim", "3", "--seeds", "1", "--steps", "2", "--workers", "1"],
    ["reproduce", "nothing", "--repeats", "1", "-o", "out"],
    ["capacity", "--vocab", "5", "--dim", "3", "--head-dim", "3", "--heads", "1", "--tolerance", "0.5"],
    ["capacity", "--densest", "x", "--dim", "3", "--rounds", "2", "--keep", "0.5", "--seeds", "1"],
    ["runs", "fit", "nowhere"],
    ["runs", "list", "nowhere"],
    ["runs", "show", "nowhere", "--trials", "1"],
    ["runs", "export", "nowhere", "-o", "out.csv"],
    ["runs", "merge", "nowhere", "{model}", "-o", "out"],
    ["lm", "assumptions", "nowhere", "--tokens", "4", "--passages", "3"],
    ["lm", "recall", "nowhere", FACTS, "--template", "{a}"],
    ["lm", "capacity", "nothing", "--dim", "8", "--steps", "2", "--load", "1"],
    ["report", "{model}", "-o", "report.html", "--title", "x"],
    ["serve", "nowhere", "--port", "x"],
    ["suite", FACTS, "-o", "out", "--loads", "0.5", "--shapes", "4x4", "--seeds", "1"],
    ["demo", "nowhere.csv", "-o", "out"],
)
HOW_OFTEN = ("--steps", "--rounds", "--seeds", "--repeats", "--workers", "--passages")
READING = (
    "--key",
    "--answer",
    "--weight",
    "--keys",
    "--pad",
    "--contradictions",
    "--blanks",
    "--delimiter",
    "--header",
)


class CommandLines:
    """`rote`, called as the shell calls it but in this process."""

    name = "command line"

    def __init__(self, store: Path) -> None:
        """Build the model that commands name, below `store`."""
        self._model = rote.build(FACTS).save(store / "model")

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        words = [word.format(model=self._model) for word in rng.choice(COMMANDS)]
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            words = self._worse(words, rng, given)
        if rng.random() < 0.2:
            words.append("--json")
        # The system passes no NUL, and bytes that are not UTF-8 as halves of surrogate pairs.
        words = [word.replace("\0", "") for word in words]
        typed = damaged(b"a,b\nx,y\n", rng)

        def attempt() -> bool:
            with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), encoding="utf-8")):
                try:
                    code = main(words)
                except SystemExit as leaving:
                    code = leaving.code
            if code not in (0, 1, 2):
                raise AssertionError(f"{words}: exit code {code}")
            # A check that did not hold was made on input that was read.
            return code != 2

        return attempt

    @staticmethod
    def _worse(words: list[str], rng: random.Random, given: Path) -> list[str]:
        at = rng.randrange(1, len(words) + 1)
        kind = rng.randrange(8)
        if kind <= 2:
            places = [place for place in range(1, len(words)) if words[place][:1].isdigit() or words[place] == "x"]
            if places:
                # A large number is no mistake where it says how often, and a sweep keeps a trial that is too large as
                # one that failed.
                place = rng.choice(places)
                huge = words[0] == "sweep" or words[place - 1] in HOW_OFTEN
                values = [
                    number for number in NUMBERS if not (huge and number.strip("+").replace("_", "")[:2].isdigit())
                ]
                return [*words[:place], rng.choice(values), *words[place + 1 :]]
        if kind == 3 and len(words) > 1:
            place = rng.randrange(1, len(words))
            return [*words[:place], rng.choice(WITH_NUL), *words[place + 1 :]]
        if kind == 4 and len(words) > 1:
            place = rng.randrange(1, len(words))
            return words[:place] + words[place + 1 :]
        if kind == 5:
            return [
                *words[:at],
                rng.choice(READING),
                rng.choice((*NAMES, *NUMBERS, "words", "keep", "skip")),
                *words[at:],
            ]
        if kind == 6:
            return [description(rng) if word == FACTS else word for word in words]
        if kind == 7:
            suffix = rng.choice((".csv", ".tsv", ".jsonl", ".parquet"))
            (given / f"-facts{suffix}").write_bytes(table(rng, suffix))
            return [str(given / f"-facts{suffix}") if word == FACTS else word for word in words]
        return [*words[:at], rng.choice(WITH_NUL), *words[at:]]
