"""Tables that are not as they should be, in every format that facts are read from, and texts that name facts."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import sys
import unicodedata
import zipfile
from pathlib import Path
from unittest.mock import patch

import numpy as np

import rote
from hostile.texts import DEEP, NAMES, NUMBERS, WITH_NUL, damaged, json_bomb
from hostile.watch import Attempt
from workbooks import parts_of, rows_of, zipped

SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".csv.gz", ".CSV", ".json", "", ".xls")
READINGS = {
    "key": (("a",), ("a", "b"), ("a", "a"), (), ("--json",), "a", ("",)),
    "answer": ("a", "c", "", "weight", "\0", "x" * 500),
    "weight": ("b", "c", "weight", ""),
    "keys": ("words", "letters", "spaces", "other", 3),
    "context": (0, -1, 1, 2, 7, 2**40, 10**30, "x", float("nan")),
    "contradictions": ("refuse", "keep", "first", "last", "most", "x"),
    "blanks": ("refuse", "skip", "x"),
    "delimiter": (",", ";", "", "ab", "\n", "\0", '"', "é", " ", "\\"),
    "header": ("yes", "no", "maybe"),
    "encoding": ("utf-8", "utf-16", "latin-1", "shift_jis", "rot13", "zlib", "../x", ""),
    "sheet": ("S", "s", "", "\0"),
    "ignore_case": (True, False, "x"),
    "ignore_punctuation": (True, False, 3),
}


class Tables:
    """Files of facts."""

    name = "tables"

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        suffix = rng.choice(SUFFIXES[:8] * 4 + SUFFIXES)
        path = given / f"facts{suffix}"
        if rng.random() < 0.02:
            path.symlink_to(rng.choice(("nothing", path.name, "/dev/zero", "/dev/null", "..", "/proc/self/mem")))
        else:
            path.write_bytes(table(rng, suffix))
        reading = {name: rng.choice(values) for name, values in READINGS.items() if rng.random() < 0.08}
        return _read(path, reading)


class Descriptions:
    """Generators, named sources and paths: the texts that name facts."""

    name = "descriptions"

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        return _read(description(rng), {})


class Objects:
    """Facts as Python has them: mappings, pairs and frames."""

    name = "objects"

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        cells = [*WITH_NUL, *range(-2, 3), None, True, float("nan"), float("inf"), b"bytes", (), ("a",), ("a", "b"), 1j]
        pairs = [(rng.choice(cells), rng.choice(cells)) for _ in range(rng.randrange(6))]
        kind = rng.randrange(5)
        if kind == 0:
            return _read(dict(pairs), {})
        if kind == 1:
            return _read(pairs, {})
        if kind == 2:
            return _read(iter([*pairs, rng.choice(cells)]), {})
        if kind == 3:
            return _read(rng.choice([*cells, object(), np.zeros((2, 3)), {1, 2}, print]), {})
        import polars

        columns = {str(place): [rng.choice((None, 1.5, float("nan"), "x", "")) for _ in pairs] for place in range(3)}
        return _read(polars.DataFrame(columns, strict=False), {})


def table(rng: random.Random, suffix: str) -> bytes:
    """The bytes of a file of this kind, with something wrong with it."""
    lowered = suffix.lower()
    if lowered == ".parquet":
        data = _parquet(rng)
    elif lowered == ".xlsx":
        data = _workbook(rng)
    elif lowered in (".jsonl", ".ndjson", ".json"):
        data = _lines(rng)
    else:
        data = _delimited(rng, "\t" if lowered in (".tsv", ".txt") else ",")
    if rng.random() < 0.6:
        data = damaged(data, rng)
    if lowered.endswith(".gz"):
        data = gzip.compress(data if rng.random() < 0.9 else data + b"x" * 2**25)
        data = damaged(data, rng) if rng.random() < 0.3 else data
    if rng.random() < 0.05:
        data = rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b\x08", b"PK\x03\x04", b"\x80\x04")) + data
    return data


def _cells(rng: random.Random) -> tuple[str, ...]:
    return rng.choice((NAMES, NUMBERS, WITH_NUL, ("a", "b", "c"), ("e\u0301", "\u00e9", "\u212b", "\u00c5", "A\u030a")))


def _rows(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    columns = rng.choice((1, 2, 3, 3, 3, 4, 9))
    names = [rng.choice(("a", "b", "c", "weight", f"n{place}", *NAMES)) for place in range(columns)]
    if rng.random() < 0.7:
        names = ["a", "b", "c", "weight", "e", "f", "g", "h", "i"][:columns]
    kinds = [_cells(rng) for _ in names]
    rows = [[rng.choice(kind) for kind in kinds] for _ in range(rng.randrange(12))]
    if rows and rng.random() < 0.2:
        # The same keys in another of Unicode's normal forms.
        rows += [
            [unicodedata.normalize(rng.choice(("NFC", "NFD", "NFKC", "NFKD")), cell) for cell in row] for row in rows
        ]
    if rows and rng.random() < 0.1:
        rows[-1] = rows[-1] * rng.randrange(3)
    return names, rows


def _delimited(rng: random.Random, separator: str) -> bytes:
    kind = rng.randrange(40)
    if kind == 0:
        return separator.join(["x"] * 1_000_000).encode() + b"\n"
    if kind == 1:
        wide = [f"c{place}" for place in range(20_000)]
        return (separator.join(wide) + "\n" + separator.join(wide) + "\n").encode()
    if kind == 2:
        return b'a,b,c\n"' + b"x" * rng.choice((1000, 131_072, 131_073, 2_000_000))
    if kind == 3:
        return b"a,b,c\n" + b"\n" * 200_000
    if kind == 4:
        return b"a,b,c\n" + b"x,y,z\n" * 50_000 + b"x,y\n"
    names, rows = _rows(rng)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, quoting=rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)))
    writer.writerow(names)
    writer.writerows(rows)
    encoding = rng.choice(("utf-8", "utf-8", "utf-8", "utf-8", "utf-16", "latin-1", "utf-7", "cp1252"))
    return text.getvalue().encode(encoding, "replace" if encoding != "utf-8" else "surrogatepass")


def _lines(rng: random.Random) -> bytes:
    names, rows = _rows(rng)
    documents = [json.dumps(dict(zip(names, row, strict=False)), ensure_ascii=rng.random() < 0.5) for row in rows]
    kind = rng.randrange(12)
    if kind == 0:
        documents.append("[" * DEEP)
    elif kind == 1:
        documents.append('{"a":' * DEEP)
    elif kind == 2:
        documents.append("{" + ",".join(f'"{place}":1' for place in range(100_000)) + "}")
    elif kind == 3:
        documents.append('{"a": NaN, "b": Infinity, "c": -Infinity}')
    elif kind == 4:
        documents.append(f'{{"a": {"9" * 5000}, "b": 1e999, "c": -0}}')
    elif kind == 5:
        documents.append(json_bomb(rng).decode("utf-8", "replace"))
    elif kind == 6:
        documents.append('{"a": {"b": 1}, "b": [], "c": null}')
    elif kind == 7:
        documents.append('{"a": 1, "a": 2, "b": 3, "c": "\\ud800"}')
    rng.shuffle(documents)
    return "\n".join(documents).encode("utf-8", "surrogatepass")


def _parquet(rng: random.Random) -> bytes:
    import polars

    kinds = [
        ["a", None, "\0"], [1, 2, None], [float("nan"), float("inf"), -0.0], [b"x", b"", None], [[1], [], None],
        [{"x": 1}, None, {"x": 2}], [True, None, False], ["é", "e\u0301", ""],
    ]  # fmt: skip
    columns = {name: rng.choice(kinds) for name in ("a", "b", "c", "weight")[: rng.randrange(1, 5)]}
    if rng.random() < 0.02:
        columns = {f"c{place}": ["x"] for place in range(3000)}
    buffer = io.BytesIO()
    polars.DataFrame(columns, strict=False).write_parquet(buffer)
    return buffer.getvalue()


def _workbook(rng: random.Random) -> bytes:
    names, rows = _rows(rng)
    parts: dict[str, str | bytes] = {
        name: content.encode("utf-8", "replace")
        for name, content in parts_of(("S", rows_of([names, *rows])), shared=("<t>x</t>",)).items()
    }
    kind, name = rng.randrange(12), rng.choice(sorted(parts))
    if kind == 0:
        parts[name] = b"<!DOCTYPE a [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><a>&a;</a>"
    elif kind == 1:
        parts[name] = b"<a>" * DEEP
    elif kind == 2:
        parts[name] = b"<worksheet>" + b"<c/>" * 2**20
    elif kind == 3:
        del parts[name]
    elif kind == 4:
        parts["xl/worksheets/s1.xml"] = (
            b'<a><row r="99999999"><c r="XFD1"><v>1</v></c></row><row><c><v>2</v></c></row></a>'
        )
    elif kind < 9:
        parts[name] = damaged(bytes(parts[name]), rng)
    return zipped(parts, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)))


def description(rng: random.Random) -> str:
    """A text where facts are named."""
    kind = rng.randrange(5)
    if kind == 0:
        return rng.choice(
            (*NAMES, "nowhere.csv", "/etc", "/etc/shadow.csv", "random", "random:", "wordnets", "a/b.csv")
        )
    start = rng.choice(("random", "random", "random", "countries", "airports", "Random", "rand", "random:random"))
    names = (
        "vocab", "context", "facts", "seed", "answers", "kind", "entropy", "rank", "prior", "exponent", "examples",
        "dim", "classes", "targets", "shared", "answer", "relations", "x", "", "vocab",
    )  # fmt: skip
    sizes = {"vocab": "7", "context": "2", "facts": "9"} if start == "random" else {}
    for _ in range(rng.randrange(4)):
        sizes[rng.choice(names)] = rng.choice((*NUMBERS, *NAMES, "3", "distributions", "vectors", "zipf", "2"))
    joined = rng.choice((",", ",", ",", ",,", ";", "&", " ")).join(f"{name}={value}" for name, value in sizes.items())
    return f"{start}{rng.choice((':', ':', ':', '::', '=', ''))}{joined}"


def _read(source: object, reading: dict[str, object]) -> Attempt:
    def attempt() -> bool:
        # A name of facts may be `-`, standard input.
        with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\nx,y\n"), encoding="utf-8")):
            try:
                rote.facts(source, **reading)
            except rote.RoteError:
                return False
            return True

    return attempt
