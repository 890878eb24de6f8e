"""Workbooks (.xlsx) made by hand, part by part, so that any part may be wrong."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STYLES = ("General", "yyyy\\-mm\\-dd", "00000", "[Red]0.00;-0.00", "h:mm", '"day" 0')


def parts_of(*sheets: tuple[str, str], shared: Sequence[str] = (), attributes: str = "") -> dict[str, str]:
    """The parts of a workbook with these sheets: name and rows in XML. Texts that are shared are XML, too."""
    numbered = list(enumerate(sheets, 1))
    formats = "".join(
        f'<numFmt numFmtId="{164 + n}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
        for n, code in enumerate(STYLES)
    )
    styles = "".join(f'<xf numFmtId="{164 + n}"/>' for n in range(len(STYLES))) + '<xf numFmtId="14"/>'
    return {
        "xl/workbook.xml": f'<workbook {MAIN} xmlns:r="{RELATED}"><workbookPr {attributes}/><sheets>'
        + "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>' for n, (name, _) in numbered)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": "<Relationships>"
        + "".join(
            f'<Relationship Id="rId{n}" Type="{RELATED}/worksheet" Target="worksheets/s{n}.xml"/>' for n, _ in numbered
        )
        + f'<Relationship Id="t" Type="{RELATED}/sharedStrings" Target="/xl/sharedStrings.xml"/>'
        + f'<Relationship Id="s" Type="{RELATED}/styles" Target="styles.xml"/></Relationships>',
        "xl/sharedStrings.xml": f"<sst {MAIN}>{''.join(f'<si>{text}</si>' for text in shared)}</sst>",
        "xl/styles.xml": f"<styleSheet {MAIN}><numFmts>{formats}</numFmts><cellXfs>{styles}</cellXfs></styleSheet>",
        **{
            f"xl/worksheets/s{n}.xml": f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"
            for n, (_, rows) in numbered
        },
    }  # fmt: skip


def rows_of(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text cells, in XML, without the references that a writer may leave out."""
    cells = ("".join(f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>' for cell in row) for row in rows)
    return "".join(f"<row>{row}</row>" for row in cells)


def zipped(parts: Mapping[str, str | bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return data.getvalue()
