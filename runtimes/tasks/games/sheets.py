"""Workbooks of one sheet (xlsx): written for a spreadsheet to open, and read when it has saved them."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from words import GOODS

Value = str | float
Rows = list[list[Value]]
"""Texts and numbers, or formulas, which begin with ``=``."""

_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_KINDS: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS: Final = {
    "[Content_Types].xml": f"""<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="{_KINDS}.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_KINDS}.worksheet+xml"/></Types>""",
    "_rels/.rels": f"""<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>""",
    "xl/_rels/workbook.xml.rels": f"""<Relationships
xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>""",
    "xl/workbook.xml": f"""<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">
<sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>""",
}


@dataclass(frozen=True)
class Cell:
    value: Value
    formula: str
    bold: bool
    format: str


@dataclass(frozen=True)
class Sheet:
    name: str
    cells: dict[str, Cell]
    """Those with a value, by their references, such as ``B2``."""

    def rows(self) -> Rows:
        """Return the values of the first rows and columns, without what is empty at the end of each."""
        found: Rows = []
        for number in range(1, 60):
            row = [self.value(reference(number, column)) for column in range(1, 20)]
            while row and row[-1] == "":
                row.pop()
            found.append(row)
        while found and not found[-1]:
            found.pop()
        return found

    def value(self, at: str) -> Value:
        return self.cells[at].value if at in self.cells else ""

    def formula(self, at: str) -> str:
        return self.cells[at].formula if at in self.cells else ""


def reference(row: int, column: int) -> str:
    """Return a cell's name by its numbers from 1 on; there are 26 columns."""
    return f"{chr(64 + column)}{row}"


def write_sheet(path: Path, rows: Rows) -> None:
    cells = ""
    for number, row in enumerate(rows, 1):
        cells += f'<row r="{number}">'
        for column, value in enumerate(row, 1):
            at = f'r="{reference(number, column)}"'
            if isinstance(value, str) and not value.startswith("="):
                cells += f'<c {at} t="inlineStr"><is><t>{escape(value)}</t></is></c>'
            else:
                cells += f"<c {at}><f>{value[1:]}</f></c>" if isinstance(value, str) else f"<c {at}><v>{value}</v></c>"
        cells += "</row>"
    sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**_PARTS, "xl/worksheets/sheet1.xml": sheet}.items():
            archive.writestr(zipfile.ZipInfo(name), f'<?xml version="1.0" encoding="UTF-8"?>\n{text}')


def read_sheet(path: Path) -> Sheet:
    """Return the first sheet; an empty one without a name if the file isn't a workbook."""
    names = {"": _MAIN}
    try:
        with zipfile.ZipFile(path) as archive:
            there = archive.namelist()
            parts = {
                part: ET.fromstring(archive.read(f"xl/{part}.xml"))  # noqa: S314 - expat refuses bombs
                for part in ("workbook", "worksheets/sheet1", "styles", "sharedStrings")
                if f"xl/{part}.xml" in there
            }
    except (OSError, zipfile.BadZipFile, ET.ParseError):
        return Sheet("", {})
    styles = parts.get("styles", ET.Element("none"))
    fonts = [font.find("b[@val='1']", names) is not None for font in styles.iterfind("fonts/font", names)]
    formats = {each.get("numFmtId"): each.get("formatCode", "") for each in styles.iterfind("numFmts/numFmt", names)}
    looks = [
        (
            fonts[int(each.get("fontId", 0))] if fonts else False,
            formats.get(each.get("numFmtId"), each.get("numFmtId", "")),
        )
        for each in styles.iterfind("cellXfs/xf", names)
    ]
    strings = ["".join(each.itertext()).strip() for each in parts.get("sharedStrings", [])]
    cells: dict[str, Cell] = {}
    for cell in parts["worksheets/sheet1"].iterfind("sheetData/row/c", names):
        text = cell.findtext("v", "", names)
        value: Value = text
        match cell.get("t", "n"):
            case "s":
                value = strings[int(text)]
            case "inlineStr":
                value = "".join(each.text or "" for each in cell.iterfind("is//t", names))
            case "n" if text:
                value = float(text)
            case _:
                pass
        if value != "":
            bold, format_ = looks[int(cell.get("s", 0))] if looks else (False, "")
            cells[cell.get("r", "")] = Cell(value, cell.findtext("f", "", names), bold, format_)
    sheet = parts["workbook"].find("sheets/sheet", names)
    return Sheet("" if sheet is None else sheet.get("name", ""), cells)


def prices(rng: Random) -> Rows:
    """Return a table of goods, how many of them and at what price; no number is in it twice."""
    goods = rng.sample(GOODS, rng.randrange(5, 8))
    numbers = rng.sample(range(2, 100), 2 * len(goods))
    return [["item", "count", "price"], *([name, *numbers[2 * at : 2 * at + 2]] for at, name in enumerate(goods))]
