import sys
from pathlib import Path

import numpy as np
import pytest
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.screen.tesseract import TESSDATA, TesseractReader
from support.glyphs import Style, draw

STYLE = Style("DejaVuSans", width=200)

needs_data = pytest.mark.skipif(not (TESSDATA / "eng.traineddata").exists(), reason="apt-get install tesseract-ocr-eng")


@needs_data
def test_numbers_light_and_dark_large_and_small_and_nothing_else_are_read() -> None:
    reader = TesseractReader("score", number=True)
    assert reader.read(draw("123456", STYLE))[0] == 123456
    assert reader.read(draw("2,048", Style("DejaVuSans", 14, colour=(0, 0, 90), behind=(230, 230, 230))))[0] == 2048
    assert reader.read(draw("", STYLE)) == (None, 1.0)
    value, confidence = reader.read(np.random.default_rng(1).integers(0, 256, (28, 200, 4), dtype=np.uint8))
    assert value is None or confidence < 0.8


@needs_data
def test_text_is_read() -> None:
    value, confidence = TesseractReader("state", number=False).read(draw("Game over", STYLE))
    assert value == "Game over"
    assert confidence > 0.8


def test_what_is_missing_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("tesserocr")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    with pytest.raises(SourceError, match=rf"eng.traineddata in {tmp_path} .*apt-get install tesseract-ocr-eng"):
        TesseractReader("score", number=True)
    monkeypatch.setitem(sys.modules, "tesserocr", None)
    with pytest.raises(SourceError, match=r'score: .*pip install "pluriverse-server\[ocr\]".*tesseract-ocr-eng'):
        TesseractReader("score", number=True)
