"""Every command of rote is among those that are interrupted at random moments."""

from __future__ import annotations

from interrupts import COMMANDS
from rote.cli import APPS, app
from rote.cli import COMMANDS as FIRST_WORDS


def test_every_command_is_interrupted():
    apart = {f"{name} {inner}" for name in APPS for inner in app[name] if not inner.startswith("-")}
    every = apart | (set(FIRST_WORDS) - set(APPS))
    tried = {" ".join(words[: 2 if words[0] in APPS else 1]) for words in COMMANDS.values()}
    assert len(apart) >= 10
    assert every - tried == set()
