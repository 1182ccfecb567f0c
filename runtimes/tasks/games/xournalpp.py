"""Tasks in Xournal++, for notes and for annotating PDFs: what is on the pages of the document that was saved."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

from hands import click, drag, press, save_as, wait, write
from pluriverse_server.kit import Look, Task
from words import NAMES, line, lines, word

Parameters = dict[str, Any]

A4 = "595 842"


class _Document(Task):
    """A PDF of some pages, or notes; what was saved is read as the texts and the strokes of each page."""

    def setup(self, rng: Random, home: Path) -> Parameters:
        p: Parameters = {"file": f"{word(rng)}.pdf", "pages": [line(rng, 3) for _ in range(3)], **self.more(rng)}
        (home / p["file"]).write_bytes(_pdf(p["pages"]))
        return {**p, "saved": f"{p['file'].removesuffix('.pdf')}-seen.xopp"}

    def more(self, rng: Random) -> Parameters:
        return {}

    def check(self, p: Parameters, look: Look) -> float:
        return float(self.right(p, _read(look.home / p["saved"])))

    def right(self, p: Parameters, pages: list[ET.Element]) -> bool:
        raise NotImplementedError

    def save(self, p: Parameters, computer: Any) -> None:
        press(computer, "ctrl+s")
        save_as(computer, p["saved"])


def _pdf(texts: list[str]) -> bytes:
    """Return a PDF with a text on each of its pages."""
    kids = " ".join(f"{3 + 2 * at} 0 R" for at in range(len(texts)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(texts)} /Kids [{kids}] /MediaBox [0 0 {A4}] >>",
    ]
    for at, text in enumerate(texts):
        stream = f"BT /F 24 Tf 72 760 Td ({text}) Tj ET"
        font = "<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R /Contents {4 + 2 * at} 0 R /Resources {font} >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    body, places = "%PDF-1.4\n", ""
    for at, each in enumerate(objects, 1):
        places += f"{len(body):010} 00000 n \n"
        body += f"{at} 0 obj\n{each}\nendobj\n"
    count = len(objects) + 1
    end = f"xref\n0 {count}\n0000000000 65535 f \n{places}trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n"
    return f"{body}{end}{len(body)}\n%%EOF\n".encode()


def _read(path: Path) -> list[ET.Element]:
    try:
        return list(ET.fromstring(gzip.decompress(path.read_bytes())).iter("page"))  # noqa: S314 - expat refuses bombs
    except (OSError, EOFError, ET.ParseError):
        return []


def _texts(pages: list[ET.Element]) -> list[list[str]]:
    return [[(each.text or "").strip() for each in page.iter("text")] for page in pages]


def _strokes(pages: list[ET.Element], tool: str) -> list[int]:
    """Return how many strokes of a tool are on each page that are as long as a word."""
    return [sum(each.get("tool") == tool and _width(each) > 40 for each in page.iter("stroke")) for page in pages]


def _width(stroke: ET.Element) -> float:
    across = [float(each) for each in (stroke.text or "").split()][::2]
    return max(across, default=0) - min(across, default=0)


def _save(path: Path, pages: list[str]) -> None:
    """Write a document, each page of which has a text or a stroke, in XML."""
    inside = "".join(f'<page width="595" height="842"><layer>{each}</layer></page>' for each in pages)
    path.write_bytes(gzip.compress(f'<xournal creator="a trap" fileversion="4">{inside}</xournal>'.encode()))


def _go(computer: Any, number: int) -> None:
    """Go to a page by its picture at the side."""
    wait(computer, 1.0)
    click(computer, 56, 250 + 150 * (number - 1))
    wait(computer)


def _note(computer: Any, text: str) -> None:
    press(computer, "ctrl+shift+t")
    click(computer, 400, 350)
    write(computer, text)
    click(computer, 400, 600)
    wait(computer)


class AnnotateWrite(_Document):
    words = 'Write "{text}" on page {number} of the PDF, and save it as {saved} in the home folder.'

    def more(self, rng: Random) -> Parameters:
        return {"text": line(rng, 3), "number": rng.randrange(1, 4)}

    def right(self, p: Parameters, pages: list[ET.Element]) -> bool:
        return _texts(pages) == [[p["text"]] if at == p["number"] else [] for at in (1, 2, 3)]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _go(computer, p["number"])
        _note(computer, p["text"])
        self.save(p, computer)

    def trap_other_page(self, p: Parameters, home: Path) -> None:
        text = f"<text>{p['text']}</text>"
        _save(home / p["saved"], [text if at == p["number"] % 3 + 1 else "" for at in (1, 2, 3)])


class AnnotateFirstAndLast(_Document):
    words = 'Write "{first}" on the first and "{last}" on the last page of the PDF, and save it as {saved} at home.'
    difficulty = 2

    def more(self, rng: Random) -> Parameters:
        first, last = rng.sample(NAMES, 2)
        return {"first": first, "last": last}

    def right(self, p: Parameters, pages: list[ET.Element]) -> bool:
        return _texts(pages) == [[p["first"]], [], [p["last"]]]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _go(computer, 1)
        _note(computer, p["first"])
        _go(computer, 3)
        _note(computer, p["last"])
        self.save(p, computer)

    def trap_exchanged(self, p: Parameters, home: Path) -> None:
        _save(home / p["saved"], [f"<text>{p['last']}</text>", "", f"<text>{p['first']}</text>"])


class AnnotateHighlight(_Document):
    words = "Draw with the highlighter over the line of text on page {number}, and save it as {saved} at home."

    def more(self, rng: Random) -> Parameters:
        return {"number": rng.randrange(1, 4)}

    def right(self, p: Parameters, pages: list[ET.Element]) -> bool:
        return [each > 0 for each in _strokes(pages, "highlighter")] == [at == p["number"] for at in (1, 2, 3)]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _go(computer, p["number"])
        press(computer, "ctrl+shift+h")
        drag(computer, (260, 220), (400, 220), (560, 220))
        wait(computer)
        self.save(p, computer)

    def trap_pen(self, p: Parameters, home: Path) -> None:
        stroke = '<stroke tool="pen" width="1">72 80 300 80</stroke>'
        _save(home / p["saved"], [stroke if at == p["number"] else "" for at in (1, 2, 3)])


class AnnotateStrikeOut(_Document):
    words = "Strike out the line of text on page {number} with the pen, and save it as {saved} at home."

    def more(self, rng: Random) -> Parameters:
        return {"number": rng.randrange(1, 4)}

    def right(self, p: Parameters, pages: list[ET.Element]) -> bool:
        return [each > 0 for each in _strokes(pages, "pen")] == [at == p["number"] for at in (1, 2, 3)]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _go(computer, p["number"])
        press(computer, "ctrl+shift+p")
        drag(computer, (260, 220), (400, 220), (560, 220))
        wait(computer)
        self.save(p, computer)

    def trap_too_short(self, p: Parameters, home: Path) -> None:
        stroke = '<stroke tool="pen" width="1">72 80 90 80</stroke>'
        _save(home / p["saved"], [stroke if at == p["number"] else "" for at in (1, 2, 3)])


class AnnotateNewPage(_Document):
    words = 'Put a new page after page {number} of the PDF, write "{text}" on it, and save it as {saved} at home.'
    split = "test"
    difficulty = 2

    def more(self, rng: Random) -> Parameters:
        return {"text": line(rng, 3), "number": rng.randrange(1, 3)}

    def right(self, p: Parameters, pages: list[ET.Element]) -> bool:
        return _texts(pages) == [[p["text"]] if at == p["number"] + 1 else [] for at in (1, 2, 3, 4)]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _go(computer, p["number"])
        press(computer, "ctrl+d")
        wait(computer)
        _note(computer, p["text"])
        self.save(p, computer)

    def trap_no_page(self, p: Parameters, home: Path) -> None:
        text = f"<text>{p['text']}</text>"
        _save(home / p["saved"], [text if at == p["number"] + 1 else "" for at in (1, 2, 3)])


class AnnotateDeletePage(_Document):
    words = "Delete page {number} from the document, whose text is {what}, and save it as {saved} at home."

    def more(self, rng: Random) -> Parameters:
        number = rng.randrange(1, 4)
        pages = lines(rng, 3, 2)
        return {"number": number, "pages": pages, "what": pages[number - 1]}

    def right(self, p: Parameters, pages: list[ET.Element]) -> bool:
        left = [each.get("pageno", "").removesuffix("ll") for page in pages for each in page.iter("background")]
        return left == [str(at) for at in (1, 2, 3) if at != p["number"]]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _go(computer, p["number"])
        press(computer, "ctrl+shift+Delete")
        wait(computer)
        self.save(p, computer)

    def trap_other(self, p: Parameters, home: Path) -> None:
        left = [at for at in (1, 2, 3) if at != p["number"] % 3 + 1]
        _save(home / p["saved"], [f'<background type="pdf" pageno="{at}ll"/>' for at in left])
