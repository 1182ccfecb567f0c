"""Tasks in Dia, a diagram editor: which shapes are in the diagram that was saved, and what they say."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

from hands import click, drag, press, save_as, wait, write
from pluriverse_server.kit import Look, Task
from words import line, word

Parameters = dict[str, Any]
Shapes = list[list[str]]
"""Of each shape what it is and what it says."""

# Where the shapes are in the toolbox, whose buttons are 33 pixels wide, or 42 in Dia 0.98.
TOOLS = {"Box": (18, 287), "Diamond": (92, 287), "Ellipse": (130, 287)}

_DIA = "{http://www.lysator.liu.se/~alla/dia/}"


class _Diagram(Task):
    """``wanted`` are the shapes that are to be drawn, ``wrong`` others."""

    def shapes(self, rng: Random) -> tuple[Shapes, Shapes, Parameters]:
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> Parameters:
        wanted, wrong, more = self.shapes(rng)
        return {"name": f"{word(rng)}.dia", "wanted": wanted, "wrong": wrong, **more}

    def check(self, p: Parameters, look: Look) -> float:
        return float(sorted(_read(look.home / p["name"])) == sorted(p["wanted"]))

    def oracle(self, p: Parameters, computer: Any) -> None:
        wait(computer, 1.0)
        for at, (shape, text) in enumerate(p["wanted"]):
            click(computer, *TOOLS[shape])
            drag(computer, (300, 200 + 150 * at), (400, 240 + 150 * at), (500, 280 + 150 * at))
            wait(computer)
            write(computer, text)
            press(computer, "Escape")
        press(computer, "ctrl+s")
        save_as(computer, p["name"])

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        shapes = "".join(
            f'<dia:object type="Flowchart - {shape}"><dia:attribute name="text"><dia:composite type="text">'
            f'<dia:attribute name="string"><dia:string>#{text}#</dia:string></dia:attribute>'
            f"</dia:composite></dia:attribute></dia:object>"
            for shape, text in p["wrong"]
        )
        layer = f'<dia:diagram xmlns:dia="{_DIA[1:-1]}"><dia:layer>{shapes}</dia:layer></dia:diagram>'
        (home / p["name"]).write_text(layer)


def _read(path: Path) -> Shapes:
    try:
        data = path.read_bytes()
        tree = ET.fromstring(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)  # noqa: S314 - expat refuses bombs
    except (OSError, EOFError, ET.ParseError):
        return []
    found: Shapes = []
    for each in tree.iter(f"{_DIA}object"):
        texts = [text.text or "" for text in each.iterfind(f"{_DIA}attribute[@name='text']//{_DIA}string")]
        found.append([each.get("type", "").removeprefix("Flowchart - "), "".join(texts).strip("#").strip()])
    return found


class DiagramBox(_Diagram):
    words = 'Draw a box of the flowchart\'s shapes that says "{text}", and save the diagram as {name}.'

    def shapes(self, rng: Random) -> tuple[Shapes, Shapes, Parameters]:
        text = line(rng, 2)
        return [["Box", text]], [["Ellipse", text]], {"text": text}


class DiagramDecision(_Diagram):
    words = 'Draw a diamond of the flowchart\'s shapes that says "{text}", and save the diagram as {name}.'

    def shapes(self, rng: Random) -> tuple[Shapes, Shapes, Parameters]:
        text = f"{word(rng)} or {word(rng)}"
        return [["Diamond", text]], [["Diamond", ""]], {"text": text}


class DiagramTwoBoxes(_Diagram):
    words = 'Draw two boxes of the flowchart\'s shapes, "{one}" and "{other}", and save the diagram as {name}.'
    split = "test"

    def shapes(self, rng: Random) -> tuple[Shapes, Shapes, Parameters]:
        one, other = line(rng, 2).split()
        return [["Box", one], ["Box", other]], [["Box", one]], {"one": one, "other": other}


class DiagramMixed(_Diagram):
    words = 'Draw an ellipse "{one}", a box "{other}" and a diamond "{third}" (flowchart), and save it as {name}.'
    difficulty = 2

    def shapes(self, rng: Random) -> tuple[Shapes, Shapes, Parameters]:
        one, other, third = line(rng, 3).split()
        wanted = [["Ellipse", one], ["Box", other], ["Diamond", third]]
        wrong = [["Ellipse", third], ["Box", other], ["Diamond", one]]
        return wanted, wrong, {"one": one, "other": other, "third": third}
