"""Code that must never run, and a watch for it: planted Python trips a wire, and so does any process started."""

from __future__ import annotations

import builtins
import importlib.util
import marshal
import os
import struct
import sys
from pathlib import Path

TRIP = "import builtins; builtins.rote_canary = True\n"
CODE = TRIP + (
    "def load(*a, **k): raise SystemExit\n"
    "def facts(*a, **k): return {}\n"
    "class Evil:\n"
    "    @classmethod\n"
    "    def from_pretrained(cls, *a, **k): raise SystemExit\n"
    "RoteConfig = RoteForCausalLM = Evil\n"
)
"""What is planted: it trips the wire when it is imported."""

STARTED = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen", "pty.spawn", "os.startfile")
_armed: list[str] = []
_seen: list[str] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if not _armed:
        return
    if event in STARTED:
        _seen.append(f"{event} {str(arguments[:2])[:200]}")
    elif event == "exec":
        file = getattr(arguments[0], "co_filename", "")
        if str(file).startswith(_armed[0]):
            _seen.append(f"exec {file}")
    elif event == "ctypes.dlopen" and str(arguments[0]).startswith(_armed[0]):
        _seen.append(f"dlopen {arguments[0]}")


def arm(folder: Path) -> None:
    """From now on nothing in `folder` may run, and nothing may be started."""
    if not hasattr(sys, "_rote_hooked"):
        sys.addaudithook(_hook)
        sys._rote_hooked = True  # pyright: ignore[reportAttributeAccessIssue]
    builtins.rote_canary = False  # pyright: ignore[reportAttributeAccessIssue]
    _seen.clear()
    _armed[:] = [str(folder)]


def disarm() -> list[str]:
    """What ran since `arm`."""
    _armed.clear()
    tripped = ["the wire"] if getattr(builtins, "rote_canary", False) else []
    return [*tripped, *_seen]


def plant_source(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CODE, encoding="utf-8")


def plant_bytecode(source: Path, checked: bool) -> Path:
    """Bytecode that Python would run in place of an untouched source: with its time and size, or with no check."""
    target = Path(importlib.util.cache_from_source(str(source)))
    target.parent.mkdir(exist_ok=True)
    code = marshal.dumps(compile(CODE, str(source), "exec"))
    state = os.stat(source)
    flags, key = (0, struct.pack("<II", int(state.st_mtime), state.st_size)) if checked else (1, b"\0" * 8)
    target.write_bytes(importlib.util.MAGIC_NUMBER + struct.pack("<I", flags) + key + code)
    return target
