"""Workbooks: what cells hold, which sheet is read, and what is rejected."""

import pytest

from rote.errors import InputError
from rote.tasks.facts import facts, facts_in
from rote.tasks.readers.formats import table_in
from workbooks import parts_of, rows_of, zipped

HEAD = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>key</t></is></c><c r="B1" t="inlineStr"><is><t>answer</t></is></c></row>'
)


def table(*sheets, reading=None, **more):
    return table_in(zipped(parts_of(*sheets, **more)), "book.xlsx", "book.xlsx", reading)


def cell(xml: str, **more) -> str:
    """How the cell below `answer` is read."""
    rows = f'{HEAD}<row r="2"><c r="A2" t="inlineStr"><is><t>k</t></is></c>{xml}</row>'
    return table(("S", rows), **more).columns["answer"][0]


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ('<c r="B2"><v>7</v></c>', "7"),
        ('<c r="B2"><v>0.10000000000000001</v></c>', "0.1"),
        ('<c r="B2"><v>1E+20</v></c>', "1e+20"),
        ('<c r="B2" s="1"><v>45382</v></c>', "2024-03-31"),
        ('<c r="B2" s="6"><v>45382.5</v></c>', "2024-03-31 12:00:00"),
        ('<c r="B2" s="4"><v>0.75</v></c>', "18:00:00"),
        ('<c r="B2" s="1"><v>1e300</v></c>', "1e+300"),
        ('<c r="B2" s="2"><v>42</v></c>', "00042"),
        ('<c r="B2" s="3"><v>1.5</v></c>', "1.5"),
        ('<c r="B2" s="5"><v>3</v></c>', "3"),
        ('<c r="B2" s="99"><v>3</v></c>', "3"),
        ('<c r="B2" t="b"><v>1</v></c>', "TRUE"),
        ('<c r="B2" t="str"><f>A1&amp;"x"</f><v>keyx</v></c>', "keyx"),
        ('<c r="B2" t="s"><v>0</v></c>', "New York"),
        ('<c r="B2" t="s"><v>1</v></c>', "東京"),
        ('<c t="inlineStr"><is><r><t>two </t></r><r><t>words</t></r></is></c>', "two words"),
    ],
)
def test_cells_are_read_as_they_are_stored(xml, text):
    shared = ["<r><t>New </t></r><r><t>York</t></r>", "<t>東京</t><rPh><t>トウキョウ</t></rPh>"]
    assert cell(xml, shared=shared) == text


def test_days_may_be_counted_from_1904():
    assert cell('<c r="B2" s="1"><v>43920</v></c>', attributes='date1904="1"') == "2024-03-31"


def test_a_table_may_begin_anywhere_and_have_empty_rows():
    rows = HEAD.replace("A1", "C4").replace("B1", "E4").replace('r="1"', 'r="4"')
    rows += '<row r="9"><c r="C9"><v>1</v></c><c r="E9"><v>2</v></c><c r="F9"/></row>'
    found = table(("S", rows))
    assert found.columns == {"key": ["1"], "answer": ["2"]}
    assert (found.unit, found.lines.tolist()) == ("row", [9])


def test_the_first_sheet_is_read_or_the_one_that_is_asked_for(tmp_path):
    path = tmp_path / "book.xlsx"
    sheets = (
        ("Prices", rows_of([("key", "answer"), ("a", "1")])),
        ("Colours", rows_of([("key", "answer"), ("a", "red")])),
    )
    path.write_bytes(zipped(parts_of(*sheets)))
    task = facts(path)
    assert task[0].answer == "1"
    assert "the sheet 'Prices' was read, not 'Colours' (`sheet=NAME` reads another)" in task.origin.notes
    chosen = facts(path, sheet="Colours")
    assert (chosen[0].answer, chosen.origin.reading.sheet) == ("red", "Colours")
    with pytest.raises(InputError, match="did you mean 'Colours'"):
        facts(path, sheet="Colors")
    with pytest.raises(InputError, match="only workbooks"):
        facts_in(b"a,b\nc,d\n", "table.csv", sheet="Colours")


def test_a_sheet_without_a_header_is_noticed():
    found = table(("S", rows_of([("A1", "x"), ("B2", "y"), ("C3", "x")])))
    assert (found.headerless, found.rows) == (True, 3)


WRONG = {
    "formula": ('<c r="B2"><f>1+1</f></c>', "cell B2 is a formula without a saved value"),
    "error": ('<c r="B2" t="e"><v>#N/A</v></c>', "cell B2 is an error"),
    "no such text": ('<c r="B2" t="s"><v>5</v></c>', "cell B2 names a text that the file does not have"),
    "a sign that is no digit": ('<c r="B2" t="s"><v>²</v></c>', "cell B2 names a text"),
    "beyond the last column": ('<c r="ZZZ2"><v>5</v></c>', "row 2 has a cell beyond XFD"),
    "broken": ("<c", "cannot be read (not well-formed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_cells_are_named(name):
    xml, message = WRONG[name]
    with pytest.raises(InputError, match=r"book\.xlsx") as refused:
        cell(xml)
    assert message in str(refused.value)


def changed(name: str, content: str | None) -> bytes:
    parts: dict = parts_of(("S", rows_of([("key", "answer"), ("a", "b")])))
    if content is None:
        del parts[name]
    else:
        parts[name] = content
    return zipped(parts)


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><sst><si><t>&b;</t></si></sst>'
FILES = {
    "no archive": (b"PK\3\4 no", "is not a readable zip archive"),
    "old": (b"\xd0\xcf\x11\xe0" + b"x" * 600, "is an old or an encrypted workbook; save it as .xlsx"),
    "no workbook": (zipped({"a.txt": "b"}), "is a zip archive but no workbook"),
    "entities": (changed("xl/sharedStrings.xml", BOMB), "declares a document type"),
    "no sheet": (changed("xl/worksheets/s1.xml", None), "s1.xml cannot be read"),
    "no relations": (changed("xl/_rels/workbook.xml.rels", None), "workbook.xml.rels cannot be read"),
    "empty sheet": (changed("xl/worksheets/s1.xml", "<worksheet/>"), "the sheet is empty"),
    "unpacks to much": (changed("xl/sharedStrings.xml", "<sst>" + " " * 2**25), "unpack to more than 16,777,216"),
    "many files": (b"PK\1\2" * 5000, "holds more than 4,096 files"),
    "wide and long": (
        changed("xl/worksheets/s1.xml", "<worksheet>" + "".join(
            f'<row r="{n}"><c r="{chr(65 + n % 26)}{chr(65 + n // 26 % 26)}{n}"><v>1</v></c></row>'
            for n in range(30_000)
        ) + "</worksheet>"),
        "are too many; rote reads 16,777,216 cells",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_readable_workbooks_are_rejected(name):
    data, message = FILES[name]
    with pytest.raises(InputError, match=r"book\.xlsx") as refused:
        facts_in(data, "book.xlsx")
    assert message in str(refused.value)
