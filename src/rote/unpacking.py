"""The gate for compressed files from elsewhere: gzip streams, zip archives, and XML inside of them.

A small file may unpack to gigabytes, and a few lines of XML may define entities that do. What is unpacked is bounded by
the size of the packed file and by its kind. An archive is read in memory, part by part; nothing of it is written to a
disk, so that the names in it lead nowhere. XML that declares a document type is rejected: entities are defined there,
and no spreadsheet has one.
"""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from xml.parsers import expat

from rote.errors import InputError, cut
from rote.files import FileKind

UNPACKED = FileKind("an unpacked table", 2**28)
SMALL, MOST_TIMES = 2**24, 128
"""A file unpacks to at most 16 MiB, or to so many times its own size where that is more. Tables unpack to 3 to 30
times."""
MOST_PARTS = 4096
"""Files in one archive."""
_CHUNK = 2**18


def most_unpacked(packed: int) -> int:
    """Bytes that a packed file of this size may unpack to."""
    return min(UNPACKED.most, max(SMALL, MOST_TIMES * packed))


def unpacked_gzip(data: bytes, where: str) -> bytes:
    """What a gzip file holds, all its members; `where` names it in messages."""
    most = most_unpacked(len(data))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            text = stream.read(most + 1)
    except EOFError:
        raise InputError(f"{where}: ends too early for a gzip file; is it damaged?") from None
    except (OSError, zlib.error) as error:
        raise InputError(f"{where}: cannot be unpacked by gzip ({error}); is the file damaged?") from None
    if len(text) > most:
        raise _too_large(where, len(data))
    return text


def _too_large(where: str, packed: int) -> InputError:
    return InputError(
        f"{where}: {packed:,} bytes unpack to more than {most_unpacked(packed):,}, which rote does not read; "
        "unpack the file yourself if you trust it"
    )


@dataclass
class Archive:
    """A zip archive in memory; the bytes that are unpacked of all its parts together are bounded."""

    where: str
    packed: int
    left: int
    _zip: zipfile.ZipFile

    @classmethod
    def of(cls, data: bytes, where: str) -> Archive:
        if data.count(b"PK\1\2") > MOST_PARTS:
            raise InputError(f"{where}: holds more than {MOST_PARTS:,} files; this is no table")
        try:
            archive = zipfile.ZipFile(io.BytesIO(data))
        except _BROKEN as error:
            raise InputError(f"{where}: is not a readable zip archive ({_first(error)}); is it damaged?") from None
        return cls(where, len(data), most_unpacked(len(data)), archive)

    def has(self, part: str) -> bool:
        return part in self._zip.NameToInfo

    def parse(self, part: str, start: Start, end: End) -> None:
        """Call `start` with the name and the attributes of every element of an XML part as it begins, and `end` with
        its name and its own text as it ends. Prefixes of names are left out."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        texts: list[list[str]] = []

        def begun(name: str, attributes: dict[str, str]) -> None:
            texts.append([])
            start(_local(name), {_local(key): value for key, value in attributes.items()} if attributes else attributes)

        def ended(name: str) -> None:
            end(_local(name), "".join(texts.pop()))

        def declared(*_: object) -> None:
            raise InputError(f"{self.where}: {cut(part)} declares a document type, which spreadsheets have not")

        parser.StartElementHandler, parser.EndElementHandler = begun, ended
        parser.CharacterDataHandler = lambda text: texts[-1].append(text) if texts else None
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = declared
        try:
            with self._zip.open(part) as stream:
                while chunk := stream.read(min(_CHUNK, self.left + 1)):
                    self.left -= len(chunk)
                    if self.left < 0:
                        raise _too_large(self.where, self.packed)
                    parser.Parse(chunk, False)
                parser.Parse(b"", True)
        except (KeyError, expat.ExpatError, *_BROKEN) as error:
            raise InputError(f"{self.where}: {cut(part)} cannot be read ({_first(error)}); is it damaged?") from None


Start = Callable[[str, dict[str, str]], None]
End = Callable[[str, str], None]

_BROKEN = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, OverflowError, struct.error,
    zlib.error, lzma.LZMAError,
)  # fmt: skip
"""What Python's reader of archives raises for one that is damaged, encrypted, or packed in a way it does not know."""


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _first(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
