from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image
from pluriverse_server.authoring.doubtful import Doubt, write_doubts

DOUBT = Doubt(3, np.full((4, 6, 4), 200, np.uint8), "<17>", "11", 0.72)


def test_doubtful_crops_are_shown_beside_their_recording_until_there_are_none(tmp_path: Path) -> None:
    recording = tmp_path / "first.plrec"
    page = write_doubts(recording, "score", [(1.25, DOUBT)])
    assert page is not None
    assert page == tmp_path / "first.doubtful" / "score" / "index.html"
    text = page.read_text()
    assert "1.25 s: labelled &#x27;&lt;17&gt;&#x27;, reads &#x27;11&#x27; with a confidence of 0.72" in text
    with Image.open(page.parent / "001.png") as picture:
        assert picture.getpixel((0, 0)) == (200, 200, 200)
    assert write_doubts(recording, "score", []) is None
    assert not page.parent.exists()
