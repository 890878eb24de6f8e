"""What a stranger's language model may ask for: checked before a library reads its files and takes memory for it.

Configurations name sizes that the weights need not have, and a library believes them: a layer of Python objects for
each of 2^31 layers, a label for each of 2^40 classes. Here the model is first made without memory, on torch's device
`meta`, and given up as soon as it has more parts or more numbers than the weights of the folder can fill.
"""

from __future__ import annotations

import functools
import os
import stat
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MethodType
from typing import Any, NamedTuple

from rote import interrupts
from rote.errors import InputError, cut
from rote.files import SPARSE_FROM, SPARSE_SHARE, WORDS
from rote.lm.text_files import refuse_texts

WEIGHTS = (".safetensors", ".gguf")
MOST_TEXT = WORDS.most
"""Bytes of a configuration, a tokenizer or a list of words."""
MOST_PARTS = 2**14
"""Layers, experts or labels that a configuration may name."""
BITS = 8
"""A parameter takes at least one bit of the file."""
BUFFERS = 2**26
"""Bytes of what a model computes for itself, such as masks, beyond the bytes of its weights."""
PARTS_PER_TENSOR = 8
FEW = 1024
"""Parts that any model may have."""
ATTENTIONS = (None, "eager", "sdpa", "flex_attention", "flash_attention_2", "flash_attention_3")
COUNTED = ("layer", "label", "expert", "block", "stage")
WHOLE = ("_size", "_dim", "_heads", "_layers", "_layer", "_positions", "_embeddings", "_embd", "_inner", "_ctx")
"""How names of whole numbers end."""


FAILURES = (IndexError, RuntimeError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError)
"""What the classes of transformers raise on a model that is not what its configuration says."""


class Filling(NamedTuple):
    """What the weights of a folder can fill."""

    tensors: int
    bytes: int


def refuse_large(folder: Path) -> None:
    """Refuse files of a folder that are holes, and texts that are too large, or name too much, to be any."""
    weights = 0
    for path in sorted(folder.iterdir()):
        state = path.stat() if path.exists() else None
        if state is None or not stat.S_ISREG(state.st_mode):
            continue
        if state.st_size >= SPARSE_FROM and 512 * state.st_blocks * SPARSE_SHARE < state.st_size:
            raise InputError(f"{path}: {state.st_size:,} bytes, nearly all of them holes; download it again")
        if path.suffix in WEIGHTS:
            weights += state.st_size
        elif path.suffix in (".json", ".txt", ".jinja", ".model", ".tiktoken"):
            _refuse_text(path, state.st_size)
    refuse_texts(folder, weights)


def _refuse_text(path: Path, size: int) -> None:
    if size > MOST_TEXT:
        raise InputError(f"{path}: {size:,} bytes are too many for a text; rote reads at most {MOST_TEXT:,}")


def refuse_config(config: dict[Any, Any], where: str) -> None:
    """Refuse a configuration that names more than any model has, or code elsewhere."""
    for key, value in config.items():
        name = str(key)
        if isinstance(value, dict):
            refuse_config(value, where)
        elif isinstance(value, str) and name.endswith(WHOLE) and not name.startswith("_"):
            raise InputError(f"{where}: its configuration cannot be read ({name!r} is {value[:60]!r}, not a number)")
        elif isinstance(value, int) and abs(value) > MOST_PARTS and any(part in name for part in COUNTED):
            raise InputError(f"{where}: {name!r} is {value}; rote reads models of at most {MOST_PARTS:,}")
        elif name.endswith(("attn_implementation", "experts_implementation")) and value not in ATTENTIONS:
            raise InputError(f"{where}: {name!r} is {str(value)[:60]!r}, which is no part of transformers")


def filling(folder: Path, gguf: str | None) -> Filling:
    """What the safetensors of a folder, or its GGUF file, can fill; the files were opened before."""
    from safetensors import safe_open

    if gguf is not None:
        path = folder / gguf
        size = path.stat().st_size
        with path.open("rb") as file:
            count = int.from_bytes(file.read(16)[8:], "little")
        return Filling(min(count, size // 24), size)
    count = size = 0
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="pt") as tensors:
            count += len(tensors.keys())
        size += path.stat().st_size
    return Filling(count, size)


def refuse_more_than_filled(make: Callable[[], object], filled: Filling, where: str) -> None:
    """Make a model without memory, and refuse one that the weights cannot fill."""
    import torch  # here: files are looked at without it

    with torch.device("meta"), _counted(filled, where), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make()


@contextmanager
def _counted(filled: Filling, where: str) -> Iterator[None]:
    """Count what modules of torch get while they are made."""
    from torch.nn.modules import module as registration

    numbers = parts = held = 0
    most = BITS * filled.bytes

    def more() -> InputError:
        return InputError(f"{where}: its configuration describes more than its weights hold; is it damaged?")

    def parameter(module: Any, name: str, given: Any) -> None:
        nonlocal numbers
        numbers += 0 if given is None else given.numel()
        if numbers > most:
            raise more()

    def part(module: Any, name: str, given: Any) -> None:
        nonlocal parts
        parts += 1
        if parts > PARTS_PER_TENSOR * filled.tensors + FEW:
            raise more()

    def buffer(module: Any, name: str, given: Any) -> None:
        nonlocal held
        held += 0 if given is None else given.numel() * given.element_size()
        if held > BUFFERS + filled.bytes:
            raise more()

    handles = [
        registration.register_module_parameter_registration_hook(parameter),
        registration.register_module_module_registration_hook(part),
        registration.register_module_buffer_registration_hook(buffer),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def refuse_others(folder: Path, names: object, where: str) -> None:
    """Refuse weights that are other files than safetensors of this folder."""
    for name in names.values() if isinstance(names, dict) else [names]:
        plain = isinstance(name, str) and name == os.path.basename(name) and name.endswith(".safetensors")
        if not plain or not (folder / str(name)).is_file():
            raise InputError(f"{where}: names {str(name)[:60]!r}, which is no file of weights in this folder")


def guarded(module: Any, name: str) -> None:
    """Have a loaded model say what it cannot do in one message, however its weights or its configuration lie."""
    for part in {id(part): part for part in (module, getattr(module, "base_model", module))}.values():
        # A bound method, so that a deep copy of the module runs its own weights.
        part.forward = MethodType(_in_words(type(part).forward, name), part)


def _in_words(forward: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(forward)
    def run(*given: Any, **more: Any) -> Any:
        try:
            return forward(*given, **more)
        except FAILURES as error:
            if interrupts.out_of_memory(error) is not None:
                raise
            raise InputError(f"{name}: the model cannot be run ({cut(error)}); is it damaged?") from error

    return run
