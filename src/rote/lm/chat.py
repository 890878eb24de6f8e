"""The text before an assistant's turn, by the template of chats that a model brings.

A template is a small program. It is rendered in a child process with limits of time and memory, since one that loops
for ever looks like any other.
"""

from __future__ import annotations

import os
import signal
from typing import Any

from rote.errors import InputError
from rote.lm.language_model import LanguageModel

SECONDS, MEMORY = 2, 2**29
"""CPU time and memory for one template."""
MOST = 2**16
"""Bytes before a turn."""
TURN = [{"role": "user", "content": "Complete this sentence."}]


def chat_lead(model: LanguageModel) -> str | None:
    """What stands before an assistant's answer; none where the tokenizer has no template of chats."""
    if not getattr(model.tokenizer, "chat_template", None):
        return None
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _render(model.tokenizer, writing)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read(MOST + 2)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if said[:1] != b"+" or len(said) > MOST + 1:
        reason = said[1:201].decode("utf-8", "replace") if said[:1] == b"-" else "it takes too long, or says too much"
        raise InputError(f"{model.name}: its template of chats cannot be used ({reason}); remove it from the tokenizer")
    return said[1:].decode("utf-8", "replace")


def _render(tokenizer: Any, pipe: int) -> None:
    """Render in this process, which ends here."""
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _limit()
        text = tokenizer.apply_chat_template(TURN, tokenize=False, add_generation_prompt=True)
        said = b"+" + str(text)[: MOST + 1].encode("utf-8", "replace")
    except BaseException as error:  # noqa: BLE001  (whatever a template raises is told by the parent)
        said = b"-" + str(error).encode("utf-8", "replace")
    try:
        with os.fdopen(pipe, "wb") as file:
            file.write(said)
    finally:
        os._exit(0)


def _limit() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
