from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image
from pluriverse_server.authoring.doubtful import Doubt, write_doubts
from support.chromium import Chromium
from support.glyphs import Style, draw

SEEN = """({
    title: document.querySelector("h1").innerText,
    captions: [...document.querySelectorAll("figcaption")].map(one => one.innerText),
    sizes: [...document.images].map(one => [one.naturalWidth, one.naturalHeight]),
    below: [...document.querySelectorAll("figure")].every(one =>
        one.querySelector("img").getBoundingClientRect().top >= one.firstChild.getBoundingClientRect().bottom),
})"""

DOUBT = Doubt(3, np.full((4, 6, 4), 200, np.uint8), "<17>", "11", 0.72)


def test_doubtful_crops_are_shown_beside_their_recording_until_there_are_none(tmp_path: Path) -> None:
    recording = tmp_path / "first.plrec"
    page = write_doubts(recording, "score", [(1.25, DOUBT)])
    assert page is not None
    assert page == tmp_path / "first.doubtful" / "score" / "index.html"
    text = page.read_text()
    assert "0:01.250: labelled &#x27;&lt;17&gt;&#x27;, reads &#x27;11&#x27; with a confidence of 0.72" in text
    with Image.open(page.parent / "001.png") as picture:
        assert picture.getpixel((0, 0)) == (200, 200, 200)
    assert write_doubts(recording, "score", []) is None
    assert not page.parent.exists()


async def test_a_person_sees_each_crop_enlarged_under_its_time_label_and_reading(tmp_path: Path) -> None:
    style = Style("DejaVuSans")
    half = draw("6666", style)
    half[14:] = 0
    doubts = [(61.5, Doubt(0, draw("3717", style), "3777", "3717", 0.93)), (75.0, Doubt(1, half, "6666", "", 0.0))]
    page = write_doubts(tmp_path / "first.plrec", "score", doubts)
    browser = await Chromium.start(tmp_path / "profile")
    try:
        await browser.open(f"file://{page}")
        seen = await browser.evaluate(SEEN)
    finally:
        await browser.close()
    assert seen == {
        "title": "first.plrec: doubtful crops of score",
        "captions": [
            "1:01.500: labelled '3777', reads '3717' with a confidence of 0.93",
            "1:15.000: labelled '6666', reads '' with a confidence of 0.00",
        ],
        "sizes": [[4 * style.width, 4 * style.height]] * 2,
        "below": True,
    }
