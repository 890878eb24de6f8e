"""What is read of a model folder without a tensor library: words, stored keys, and limits on what tensors may take."""

from __future__ import annotations

from rote.display import number
from rote.errors import InputError
from rote.files import WORDS, HeldFolder
from rote.folders.layout import KEYS, FolderConfig
from rote.folders.tensors import TensorFile
from rote.models.spec import Spec
from rote.tasks.key_reader import KeyReader
from rote.tasks.key_set import KeySet
from rote.tasks.vocabulary import Vocabulary

MOST_TIMES, SMALL_UNPACKED = 256, 2**24
"""Packed weights unpack to at most so many times their file in float64, or so many bytes: those that rote packs to 40
to 70 times."""
MOST_LAYERS = 1024
"""Layers of a specification whose tensors are packed, so that their number does not tell."""
LONGEST_CONTEXT = 2**16
"""Context up to which a specification needs no tensor that is as long."""


def read_vocabulary(folder: HeldFolder, name: str) -> Vocabulary | None:
    """The tokens in a file of a folder, where it has that file."""
    if not folder.has(name):
        return None
    tokens = folder.json(name, WORDS)
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise InputError(f"{folder.path / name}: must be a list of tokens")
    return Vocabulary(tokens)


def refuse_larger(spec: Spec, file: TensorFile, is_packed: bool = False) -> None:
    """Reject a specification that asks for more than its tensor file can hold, before anything is made of it."""
    most = max(SMALL_UNPACKED, MOST_TIMES * file.bytes) // 8 if is_packed else file.numbers
    if is_packed and spec.parameters() > most:
        raise InputError(
            f"{file.where}: {file.bytes:,} bytes of packed weights unpack to {most:,} parameters at most, but the "
            f"specification has {number(spec.parameters())}; is the file whole?"
        )
    for name, largest in (("layers", max(MOST_LAYERS, len(file.entries))), ("context", max(LONGEST_CONTEXT, most))):
        size = getattr(spec, name, None)
        if isinstance(size, int) and size > largest:
            raise InputError(
                f"{file.where}: the specification has {name} {number(size)}, its tensors are for {largest:,} at most"
            )


def key_reader(folder: HeldFolder, config: FolderConfig, spec: Spec, vocabulary: Vocabulary | None) -> KeyReader | None:
    """How the model's keys are read, with the set of those that were stored where the folder has one."""
    if vocabulary is None or spec.reads != "tokens":
        return None
    stored = None
    if config.stored_keys is not None:
        file = TensorFile.of(folder, KEYS)
        stored = KeySet.read(config.stored_keys, file.numpy(), file.where)
    return KeyReader(vocabulary, spec.context, config.facts.reading, config.facts.key_columns, stored)
