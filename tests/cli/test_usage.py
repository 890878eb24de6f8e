"""What a command says of its own use: usage lines, examples, defaults, and everything that is missing at once."""

from __future__ import annotations

import re

import pytest

from rote.cli import COMMANDS
from rote.cli.usage import shown_default

SUBCOMMANDS = {"runs": ("list", "show", "fit", "export", "diff", "merge"), "lm": ("recall", "assumptions", "capacity")}
EVERY = [
    (name, *more)
    for name in COMMANDS
    for more in ([(one,) for one in SUBCOMMANDS[name]] if name in SUBCOMMANDS else [()])
]
OLD_WORDS = re.compile(r"when absent|processor|goes on|cut short|made again|divided by commas|default: (False|\(\))")


def help_of(rote, words) -> str:
    outcome = rote(*words, "--help")
    assert outcome.code == 0
    return " ".join(outcome.out.replace("│", " ").split())


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_help_names_every_argument_and_has_an_example(rote, words):
    shown = help_of(rote, words)
    assert shown.startswith(f"Usage: rote {' '.join(words)} ")
    assert "[ARGS" not in shown.partition("[OPTIONS]")[0]
    assert re.search(rf"Examples?: .*rote {' '.join(words)}", shown)


@pytest.mark.parametrize("words", [words for words in EVERY if words != ("reproduce",)], ids=" ".join)
def test_help_is_worded_plainly(rote, words):
    assert not OLD_WORDS.search(help_of(rote, words))


def test_every_group_and_command_is_on_the_first_screen(rote):
    shown = rote("--help").out
    names = ["Start", "Check", "Change", "Theory", "Experiments", "Language models", "Ground truth", "This machine"]
    assert [shown.index(f"─ {name} ─") for name in names] == sorted(shown.index(f"─ {name} ─") for name in names)
    for name in COMMANDS:
        assert re.search(rf"│ {name} +\w", shown), name


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (["bounds", "--vocab", 5], "rote bounds: missing --context, --dim, --head-dim, --heads"),
        (["bounds", "--heads=3", "--dim", 5], "rote bounds: missing --vocab, --context, --head-dim"),
        (["build"], "rote build: missing FACTS, --output"),
        (["build", "countries"], "rote build: missing --output"),
        (["build", "-o", "model"], "rote build: missing FACTS"),
        (["train", "countries", "-o", "x"], "rote train: missing --dim, --heads"),
        (["lm", "recall"], "rote lm recall: missing MODEL, FACTS"),
        (["runs", "diff", "one"], "rote runs diff: missing SECOND"),
        (["capacity", "--dim", 3], "rote capacity: missing --head-dim, --heads, --vocab (or --facts TABLE"),
        (["bounds", "--vocab"], "--vocab has no value"),
    ],
)
def test_all_that_is_missing_is_named_at_once(rote, words, missing):
    outcome = rote(*words)
    assert outcome.code == 2
    assert outcome.err.startswith(f"rote: {missing}")
    assert "--help`" in outcome.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["boundz"], 'Did you mean "bounds"?'),
        (["list", "method"], 'Did you mean "methods"?'),
        (["show", "dana2025.theorm1"], "did you mean 'dana2025.theorem1'?"),
        (["show", "theorem1"], "did you mean 'dana2025.theorem1'?"),
        (["show", "contries"], "did you mean 'countries'?"),
        (["show", "transformerlense"], "did you mean 'transformerlens'?"),
        (["build", "countries", "-o", "x", "--method", "rote.readuot"], "did you mean 'rote.readout'?"),
        (["build", "countries", "-o", "x", "--answer", "anwser"], "did you mean 'answer'?"),
    ],
)
def test_a_mistyped_name_is_answered_by_the_nearest(rote, words, hint):
    outcome = rote(*words)
    assert outcome.code == 2
    assert hint in outcome.err
    assert len(outcome.err) < 250


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--densest", 100, "--heads", 2, "--by", "training"], "--heads, --by: not with --densest"),
        (["--dim", 3, "--keep", 0.5], "belong to --densest PARAMETERS"),
        (["--dim", 3, "--dim", 4, "--head-dim", 3, "--heads", 1, "--vocab", 5], "--dim: give one value, or --densest"),
    ],
)
def test_options_of_the_search_and_of_one_shape_do_not_mix(rote, words, message):
    outcome = rote("capacity", *words)
    assert (outcome.code, message in outcome.err) == (2, True)


def test_defaults_are_shown_where_they_say_something():
    assert [shown_default(value) for value in (None, False, ())] == [None, None, None]
    assert [shown_default(value) for value in (0, 2.5, "auto", (1, 2), True)] == ["0", "2.5", "auto", "1, 2", "True"]
