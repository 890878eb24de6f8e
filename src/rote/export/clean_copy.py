"""A stranger's export without a stranger's code: rote writes the folder again and takes only tensors from theirs.

Verifying an export opens it in its target library, and libraries follow what a folder tells them: Python and bytecode
in it, `auto_map` and custom tokenizers in its JSON, functions named in its YAML, operations in its graph. So nothing of
the folder itself is opened there. The model it says it was made from (`source`, read as any model folder is) is
exported again into a private folder. Of theirs the numbers alone are put into that copy, after names, shapes and dtypes
were found to be the same. Every other file must be, byte for byte, the one that was just written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import safetensors.torch

from rote.errors import InputError, problems
from rote.export import shipped
from rote.export.exported_files import walk
from rote.export.targets.lm_eval import TASK
from rote.files import CODE, TENSORS, WORDS, HeldFolder, held, parsed, private_folder
from rote.folders.layout import SOURCE
from rote.folders.tensors import TensorFile

BYTECODE = (".pyc", ".pyo", ".so", ".pyd")
OWN, OTHER = "this release's", "another"
"""What is said of a file of the folder, beside the one that rote writes."""
NAME = r"[\w:-]+"
"""What names of tasks and fingerprints are made of."""


def refuse_foreign_code(folder: HeldFolder) -> None:
    """Reject a folder with Python or YAML that is not, byte for byte, what this release writes, or with bytecode.

    None of it is run here. But whoever reads "verified" may run it next: `load.py` runs the bytecode beside it.
    """
    own = {path.read_bytes() for path in Path(shipped.__file__).parent.glob("*.py")}
    described = re.compile(re.escape(TASK.format(name="NAME", fingerprint='"NAME"')).replace("NAME", NAME))
    foreign = []
    for name, inner, file in walk(folder):
        suffix = PurePosixPath(name).suffix
        if suffix in BYTECODE:
            foreign.append(f"{folder.path / name}: is compiled code, which can differ from its source; remove it")
        elif suffix in (".py", ".yaml", ".yml"):
            content = inner.read(file, CODE)
            known = content in own if suffix == ".py" else described.fullmatch(content.decode(errors="replace"))
            if not known:
                foreign.append(f"{folder.path / name}: {FOREIGN}")
    if foreign:
        raise problems("code", foreign)


FOREIGN = "is not what this release of rote writes there, so it is not run; export the model again"


@contextmanager
def clean_copy(theirs: HeldFolder, write: Callable[[Path], None], data: tuple[str, ...]) -> Iterator[CleanCopy]:
    """What `write` writes into a new private folder, with the numbers of the files `data` taken from `theirs`."""
    with private_folder("rote-verify-") as place:
        folder = place / "export"
        folder.mkdir()
        write(folder)
        other = []
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = path.relative_to(folder).as_posix()
            with _holding(theirs, name) as (inner, own):
                if inner is None or not inner.has(own):
                    other.append(name)
                elif name in data:
                    TAKEN[path.suffix](inner, own, path)
                elif not _same(inner, own, path):
                    other.append(name)
        yield CleanCopy(folder, tuple(other))


@dataclass(frozen=True)
class CleanCopy:
    """A private copy of an export that holds no file of a stranger's."""

    folder: Path
    other: tuple[str, ...]
    """Files that are missing, or are not what this release writes; the copy has its own."""


@contextmanager
def _holding(folder: HeldFolder, name: str) -> Iterator[tuple[HeldFolder | None, str]]:
    """The folder below `folder` that holds a file, where there is one."""
    inner, _, rest = name.partition("/")
    if not rest:
        yield folder, name
    elif folder.is_folder(inner):
        with folder.folder(inner) as below, _holding(below, rest) as found:
            yield found
    else:
        yield None, rest


def _same(theirs: HeldFolder, name: str, own: Path) -> bool:
    if theirs.size(name, WORDS) != own.stat().st_size and name != "tokenizer.json":
        return False
    found, written = theirs.read(name, WORDS), own.read_bytes()
    if found == written or name != "tokenizer.json":
        return found == written
    # Another release of tokenizers may lay the same tokenizer out otherwise.
    return parsed(found, str(theirs.path / name)) == parsed(written, name)


def _take_safetensors(theirs: HeldFolder, name: str, own: Path) -> None:
    file = TensorFile.of(theirs, name)
    with held(own.parent) as folder:
        wanted = TensorFile.of(folder, own.name).entries
    outline = {tensor: (entry.dtype, entry.shape) for tensor, entry in file.entries.items()}
    if outline != {tensor: (entry.dtype, entry.shape) for tensor, entry in wanted.items()}:
        raise _unlike(file.where)
    own.write_bytes(safetensors.torch.save(file.torch(), {"format": "pt"}))


def _take_gguf(theirs: HeldFolder, name: str, own: Path) -> None:
    from gguf import GGUFReader

    start = int(GGUFReader(own).data_offset)
    if theirs.size(name, TENSORS) != own.stat().st_size:
        raise _unlike(str(theirs.path / name))
    found, written = theirs.read(name, TENSORS), own.read_bytes()
    if found[:start] != written[:start]:
        raise _unlike(str(theirs.path / name))
    own.write_bytes(written[:start] + found[start:])


def _take_onnx(theirs: HeldFolder, name: str, own: Path) -> None:
    import onnx
    from google.protobuf.message import DecodeError

    where = str(theirs.path / name)
    found, written = onnx.ModelProto(), onnx.load(own)
    try:
        found.ParseFromString(theirs.read(name, TENSORS))
    except DecodeError as error:
        raise InputError(f"{where}: is not a readable ONNX file ({error}); export the model again") from None
    tensors = {tensor.name: tensor for tensor in found.graph.initializer}
    if not len(tensors) == len(found.graph.initializer) == len(written.graph.initializer):
        raise _unlike(where)
    for tensor in written.graph.initializer:
        other = tensors.get(tensor.name)
        if other is None or other.data_type != tensor.data_type or list(other.dims) != list(tensor.dims):
            raise _unlike(where)
        is_float = tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)
        if is_float and tensor.dims:
            if len(other.raw_data) != len(tensor.raw_data) or not tensor.raw_data:
                raise _unlike(where)
            tensor.raw_data = other.raw_data
        elif _content(other) != _content(tensor):
            raise _unlike(where)
    if _outline(found) != _outline(written):
        raise _unlike(where)
    own.write_bytes(written.SerializeToString())


def _outline(model: Any) -> bytes:
    """All that an ONNX file computes, apart from its initializers: without notes and names of tools."""
    outline = type(model)()
    outline.CopyFrom(model)
    for field in ("producer_name", "producer_version"):
        outline.ClearField(field)
    for field in ("initializer", "value_info"):
        outline.graph.ClearField(field)
    return _content(outline)


def _content(message: Any) -> bytes:
    """The bytes of a message without its notes."""
    copy = type(message)()
    copy.CopyFrom(message)
    _clear_notes(copy)
    return copy.SerializeToString(deterministic=True)


def _clear_notes(message: Any) -> None:
    for field, value in message.ListFields():
        if field.name in ("doc_string", "metadata_props"):
            message.ClearField(field.name)
        elif field.message_type is not None:
            for inner in (value,) if hasattr(value, "ListFields") else value:
                _clear_notes(inner)


def _take_lines(theirs: HeldFolder, name: str, own: Path) -> None:
    """Lines of JSON, each an object of texts."""
    where = str(theirs.path / name)
    lines = theirs.read(name, WORDS).splitlines()
    fields = {"prompt", "answer", "continuation"}
    for number, line in enumerate(lines, 1):
        row = parsed(line, f"{where}, line {number}")
        if not isinstance(row, dict) or set(row) != fields or not all(isinstance(text, str) for text in row.values()):
            raise InputError(f"{where}: line {number} is not a fact as rote writes it; export the facts again")
    own.write_bytes(b"\n".join(lines) + b"\n")


def _unlike(where: str) -> InputError:
    return InputError(
        f"{where}: its tensors are not those that this release and the libraries here write for the model in {SOURCE} "
        "and these facts; name the facts it was exported with, or export the model again"
    )


TAKEN: dict[str, Callable[[HeldFolder, str, Path], None]] = {
    ".safetensors": _take_safetensors,
    ".gguf": _take_gguf,
    ".onnx": _take_onnx,
    ".jsonl": _take_lines,
}
"""How the numbers of a file are taken, by its suffix."""
