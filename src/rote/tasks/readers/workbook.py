"""Excel workbooks (.xlsx, .xlsm): a zip archive of XML, read by the standard library within the bounds of the gate.

Cells are read as they are stored: a number without the currency or the digits that Excel shows, a formula as the value
that was saved with it. Two formats change what a cell means and are followed: dates and times become ISO 8601
(`2024-03-31`), and a format of zeros (`00000`) keeps leading zeros. Rows and columns that are empty throughout are left
out, wherever the table begins. Macros, links and pictures are not looked at.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np

from rote.errors import InputError, listed, nearest, problems
from rote.tasks.origin import Reading
from rote.tasks.readers.header import column_names
from rote.tasks.table import MOST_COLUMNS, SHOWN, Table, checked_table
from rote.unpacking import Archive

MOST_CELLS = 2**24
"""Cells of a sheet, and texts that its cells may name."""
BOOK = "xl/workbook.xml"
_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""Numbers of the formats for dates and times that are not written out (ECMA-376, part 1, 18.8.30)."""
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
_REFERENCE = re.compile(r"([A-Za-z]{1,3})\d*")


def table_from_workbook(data: bytes, where: str, reading: Reading) -> Table:
    """A table from the bytes of a workbook; `where` names it in messages."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise InputError(f"{where}: is an old or an encrypted workbook; save it as .xlsx without password")
    archive = Archive.of(data, where)
    book = _Workbook.read(archive)
    name, part = book.chosen(reading.sheet, where)
    texts, formats = _texts(archive, book.parts.get("sharedStrings")), _formats(archive, book.parts.get("styles"))
    cells = _Sheet(where, texts, formats, book.first_day)
    archive.parse(part, cells.start, cells.end)
    notes = []
    if reading.sheet is None and len(book.sheets) > 1:
        others = listed([repr(other) for other in book.sheets if other != name])
        notes.append(f"the sheet {name!r} was read, not {others} (`sheet=NAME` reads another)")
    return _table(cells, where, reading, notes)


def _table(cells: _Sheet, where: str, reading: Reading, notes: list[str]) -> Table:
    if cells.wrong:
        more = [f"and {len(cells.wrong) - SHOWN} more cells"] if len(cells.wrong) > SHOWN else []
        raise problems(where, cells.wrong[:SHOWN] + more)
    used = sorted(set().union(*cells.rows.values()))
    lines = sorted(cells.rows)
    if not used:
        raise InputError(f"{where}: the sheet is empty; give one fact per row")
    if len(used) * len(lines) > MOST_CELLS:
        raise InputError(
            f"{where}: {len(lines):,} rows of {len(used):,} columns are too many; rote reads {MOST_CELLS:,} cells"
        )
    rows = [[cells.rows[line].get(column, "") for column in used] for line in lines]
    names, headed, told = column_names(rows[0], rows[1:], reading)
    kept = rows[headed:]
    columns = [[row[column] for row in kept] for column in range(len(used))]
    table = checked_table(where, names, columns, np.array(lines[headed:], dtype=np.int64), "row")
    return replace(table, notes=(*notes, *told), headerless=not headed)


@dataclass
class _Workbook:
    """Sheets by name with their parts, those that are hidden, and where days are counted from."""

    sheets: dict[str, str]
    hidden: set[str]
    parts: dict[str, str]
    """Parts that a workbook has one of, by their kind: texts, styles."""
    first_day: datetime

    @classmethod
    def read(cls, archive: Archive) -> _Workbook:
        if not archive.has(BOOK):
            raise InputError(f"{archive.where}: is a zip archive but no workbook; save it as .xlsx or .csv")
        targets: dict[str, str] = {}
        parts: dict[str, str] = {}

        def related(name: str, given: dict[str, str]) -> None:
            if name == "Relationship" and "Target" in given:
                part = posixpath.normpath(posixpath.join("/xl", given["Target"])).lstrip("/")
                targets[given.get("Id", "")] = part
                parts[given.get("Type", "").rpartition("/")[2]] = part

        found, hidden, first_day = {}, set(), [datetime(1899, 12, 30)]

        def begun(name: str, given: dict[str, str]) -> None:
            if name == "sheet" and given.get("id") in targets:
                found[given.get("name", "")] = targets[given["id"]]
                if given.get("state", "visible") != "visible":
                    hidden.add(given.get("name", ""))
            elif name == "workbookPr" and given.get("date1904") in ("1", "true"):
                first_day[0] = datetime(1904, 1, 1)

        archive.parse("xl/_rels/workbook.xml.rels", related, _nothing)
        archive.parse(BOOK, begun, _nothing)
        return cls(found, hidden, parts, first_day[0])

    def chosen(self, asked: str | None, where: str) -> tuple[str, str]:
        """The sheet that is asked for, or the first that is not hidden, and its part."""
        if asked is not None:
            if asked not in self.sheets:
                names = listed([repr(name) for name in self.sheets])
                raise InputError(
                    f"{where}: `sheet={asked}`: there is no such sheet{nearest(asked, self.sheets)}; sheets: {names}"
                )
            return asked, self.sheets[asked]
        for name, part in self.sheets.items():
            if name not in self.hidden:
                return name, part
        raise InputError(f"{where}: the workbook has no sheet that is not hidden; name one with `sheet=NAME`")


@dataclass
class _Sheet:
    """The cells of one sheet, gathered while its XML is read."""

    where: str
    texts: list[str]
    formats: list[str]
    first_day: datetime
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    """Cells that are not empty, by row (from 1 on) and column (from 0 on)."""
    wrong: list[str] = field(default_factory=list)
    _row: int = 0
    _column: int = -1
    _cell: dict[str, str] = field(default_factory=dict)
    _value: str | None = None
    _inline: list[str] = field(default_factory=list)
    _formula: bool = False
    _count: int = 0

    def start(self, name: str, given: dict[str, str]) -> None:
        if name == "c":
            reference = _REFERENCE.match(given.get("r", ""))
            self._column = _place(reference[1]) if reference else self._column + 1
            if self._column >= MOST_COLUMNS:
                raise InputError(f"{self.where}: row {self._row} has a cell beyond XFD, the last column there is")
            self._cell, self._value, self._inline, self._formula = given, None, [], False
        elif name == "row":
            number = given.get("r", "")
            self._row = int(number) if number.isdecimal() and len(number) < 9 else self._row + 1
            self._column = -1
        elif name == "f":
            self._formula = True

    def end(self, name: str, text: str) -> None:
        if name == "v":
            self._value = text
        elif name == "t":
            self._inline.append(text)
        elif name == "c" and (said := self._text()):
            self._count += 1
            if self._count > MOST_CELLS:
                raise InputError(f"{self.where}: more than {MOST_CELLS:,} cells, which rote does not read")
            self.rows.setdefault(self._row, {})[self._column] = said

    def _text(self) -> str:
        kind, value = self._cell.get("t", "n"), self._value
        at = f"cell {_letters(self._column)}{self._row}"
        if kind == "inlineStr":
            return "".join(self._inline)
        if value is None:
            if self._formula:
                self.wrong.append(f"{at} is a formula without a saved value; open the file in Excel and save it again")
            return ""
        if kind == "s":
            place = int(value) if value.strip().isdecimal() and len(value) < 12 else -1
            if not 0 <= place < len(self.texts):
                self.wrong.append(f"{at} names a text that the file does not have; is it damaged?")
                return ""
            return self.texts[place]
        if kind == "e":
            self.wrong.append(f"{at} is an error ({value}); mend the formula or fill the cell")
            return ""
        if kind == "b":
            return "TRUE" if value.strip() == "1" else "FALSE"
        return value if kind in ("str", "d") else self._number(value)

    def _number(self, value: str) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        style = self._cell.get("s", "0")
        place = int(style) if style.isdecimal() and len(style) < 9 else 0
        shown = self.formats[place] if place < len(self.formats) else ""
        if shown == "date" and (moment := _moment(number, self.first_day)) is not None:
            return moment
        if number == int(number) if abs(number) < 2**53 else False:
            whole = int(number)
            return str(whole).zfill(len(shown)) if set(shown) == {"0"} and whole >= 0 else str(whole)
        return repr(number) if abs(number) < float("inf") else value


def _texts(archive: Archive, part: str | None) -> list[str]:
    """The texts that cells share; parts of one in other fonts are joined, and readings of characters are left out."""
    texts: list[str] = []
    if part is None or not archive.has(part):
        return texts
    said: list[str] = []
    aside = [0]

    def begun(name: str, given: dict[str, str]) -> None:
        if name == "si":
            said.clear()
        aside[0] += name == "rPh"

    def ended(name: str, text: str) -> None:
        aside[0] -= name == "rPh"
        if name == "t" and not aside[0]:
            said.append(text)
        elif name == "si":
            texts.append("".join(said))
            if len(texts) > MOST_CELLS:
                raise InputError(f"{archive.where}: more than {MOST_CELLS:,} texts, which rote does not read")

    archive.parse(part, begun, ended)
    return texts


def _formats(archive: Archive, part: str | None) -> list[str]:
    """For each style of a cell: `date`, a row of zeros, or nothing."""
    codes: dict[str, str] = {}
    styles: list[str] = []
    inside = [False]
    if part is None or not archive.has(part):
        return styles

    def begun(name: str, given: dict[str, str]) -> None:
        if name == "numFmt":
            codes[given.get("numFmtId", "")] = given.get("formatCode", "")
        elif name == "cellXfs":
            inside[0] = True
        elif name == "xf" and inside[0]:
            styles.append(_kind(given.get("numFmtId", "0"), codes))

    def ended(name: str, text: str) -> None:
        inside[0] = inside[0] and name != "cellXfs"

    archive.parse(part, begun, ended)
    return styles


def _kind(number: str, codes: dict[str, str]) -> str:
    code = codes.get(number)
    if code is None:
        return "date" if number.isdecimal() and len(number) < 4 and int(number) in _DATES else ""
    bare = _LITERAL.sub("", code.split(";")[0]).strip().lower()
    if bare and set(bare) == {"0"}:
        return bare if len(bare) <= 20 else ""
    return "date" if bare != "general" and re.search(r"[ymdhs]", bare) else ""


def _moment(days: float, first_day: datetime) -> str | None:
    """Days since the first one as a date, a time of day, or both; none where there is no such day."""
    try:
        moment = first_day + timedelta(seconds=round(days * 86_400))
    except (OverflowError, ValueError):
        return None
    if 0 <= days < 1:
        return moment.strftime("%H:%M:%S")
    if days < 0:
        return None
    return f"{moment:%Y-%m-%d}" if days == int(days) else f"{moment:%Y-%m-%d %H:%M:%S}"


def _place(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _letters(column: int) -> str:
    text, number = "", column + 1
    while number > 0:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def _nothing(name: str, text: str) -> None:
    pass
