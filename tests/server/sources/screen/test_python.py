from pathlib import Path

import numpy as np
import pytest
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.screen.python import PythonReader, compiled
from support.glyphs import bgrx

GREEN = """
import numpy as np

def read(picture, previous):
    picture[0, 0] = 0
    return int((picture[..., 1] > 200).sum()), np.float32(0.5) if previous is None else 1
"""


def reader(directory: Path, code: str) -> PythonReader:
    (directory / "reader.py").write_text(code)
    return PythonReader(directory / "reader.py", "score")


def test_it_is_given_colours_as_red_green_and_blue_and_what_it_said_before(tmp_path: Path) -> None:
    rgb = np.zeros((4, 6, 3), np.uint8)
    rgb[1:3, 2:5, 1] = 255
    pixels = bgrx(rgb)
    pixels.flags.writeable = False
    green = reader(tmp_path, GREEN)
    assert green.read(pixels) == (6, 0.5)
    assert green.read(pixels) == (6, 1.0)
    assert green.read(bgrx(np.full((4, 6, 3), 255, np.uint8))) == (23, 1.0)
    shape = "def read(picture, previous):\n    return f'{picture.dtype} {picture.shape}', 1"
    assert reader(tmp_path, shape).read(pixels)[0] == "uint8 (4, 6, 3)"


@pytest.mark.parametrize("said", ["None, 1", "True, 0.9", "'won', 1", "2.5, 1", "np.int64(7), np.float64(1)"])
def test_values_are_pythons_own(tmp_path: Path, said: str) -> None:
    code = f"import numpy as np\ndef read(picture, previous, scale=2):\n    return {said}"
    value, confidence = reader(tmp_path, code).read(np.zeros((1, 1, 4), np.uint8))
    assert type(value) in (type(None), bool, str, float, int)
    assert type(confidence) is float


@pytest.mark.parametrize("said", ["5", "5, 2", "5, True", "5, None", "[5], 1", "5, float('nan')", "1, 2, 3", "5, '1'"])
def test_what_it_returns_else_is_refused_with_an_example(tmp_path: Path, said: str) -> None:
    with pytest.raises(SourceError, match=r"reader.py: read returned .*; expected a number, .*: return 120, 0.97$"):
        reader(tmp_path, f"def read(picture, previous):\n    return {said}").read(np.zeros((1, 1, 4), np.uint8))


def test_an_exception_has_its_file_and_line(tmp_path: Path) -> None:
    for code, said in (
        (
            "def scale(x):\n    return 1 / x\n\ndef read(picture, previous):\n    return scale(0), 1",
            "2: ZeroDivisionError",
        ),
        ("import sys\ndef read(picture, previous):\n    sys.exit(1)", "3: SystemExit: 1"),
    ):
        with pytest.raises(SourceError, match=rf"reader\.py, line {said}"):
            reader(tmp_path, code).read(np.zeros((1, 1, 4), np.uint8))
    with pytest.raises(SourceError, match=r"score: .*none\.py can't be read: No such file.*expected def read"):
        PythonReader(tmp_path / "none.py", "score")
    # A file is looked at without running it.
    (tmp_path / "raises.py").write_text("raise ValueError\ndef read(*both): ...\n")
    compiled(tmp_path / "raises.py", "score")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import nothing_of_that_name\ndef read(picture, previous): ...", r"line 1: ModuleNotFoundError: No module"),
        ("def read(picture, previous):\nreturn 1", r"line 2: not Python: expected an indented block"),
        ("def look(picture, previous): ...", r"has no function read; expected def read\(picture, previous\), which"),
        ("\ndef read(picture): ...", r"line 2: expected def read\(picture, previous\)"),
        ("def read(picture, previous, more): ...", r"line 1: expected def read\(picture, previous\)"),
        ("def read(picture, previous, *, more): ...", r"line 1: expected def read\(picture, previous\)"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(tmp_path: Path, code: str, expected: str) -> None:
    with pytest.raises(SourceError, match=rf"^score: .*reader\.py.*{expected}"):
        reader(tmp_path, code)


def test_the_reader_of_the_docs_reads_its_lamps(tmp_path: Path) -> None:
    docs = Path(__file__).parents[4] / "docs" / "runtimes.md"
    code = docs.read_text().split("```python\n# reader.py\n")[1].split("```")[0]
    lamps = reader(tmp_path, code)
    rgb = np.zeros((9, 100, 3), np.uint8)
    for lit in range(3):
        rgb[2:7, lit * 10 + 3 : lit * 10 + 8] = (250, 180, 20)
    assert lamps.read(bgrx(rgb)) == (3, 1.0)
    rgb[2:7, 33:38] = 120
    assert lamps.read(bgrx(rgb)) == (3, 0.0)
