"""Tesseract proposes labels: numbers and texts, for a person to accept or to correct.

pip install tesserocr pillow; apt-get install tesseract-ocr-eng
pluriverse-server label --propose "python examples/propose_tesseract.py" greed/recordings/first.plrec
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
from typing import Any

import tesserocr
from PIL import Image, ImageOps

DATA = os.environ.get("TESSDATA_PREFIX", "/usr/share/tesseract-ocr/5/tessdata")
# Tesseract was trained on dark lines of about this height, with a border around them.
HEIGHT, BORDER = 48, 10


def prepared(png: bytes) -> Image.Image:
    """The line as Tesseract reads it best."""
    grey = ImageOps.autocontrast(Image.open(io.BytesIO(png)).convert("L"))
    # Text is the smaller part of a region.
    if sum(grey.histogram()[:128]) > grey.width * grey.height / 2:
        grey = ImageOps.invert(grey)
    times = max(1, -(-HEIGHT // grey.height))
    larger = grey.resize((grey.width * times, grey.height * times), Image.Resampling.BICUBIC)
    return ImageOps.expand(larger, BORDER, fill=255)


start: Any = tesserocr.PyTessBaseAPI
with start(path=DATA, lang="eng", psm=tesserocr.PSM.SINGLE_LINE) as api:
    for line in sys.stdin:
        asked = json.loads(line)
        number = asked["kind"] == "number"
        api.SetVariable("tessedit_char_whitelist", "0123456789.+-" if number else "")
        api.SetImage(prepared(base64.b64decode(asked["png"])))
        value: str | float | None = api.GetUTF8Text().strip() or None
        confidence = min(api.AllWordConfidences(), default=0) / 100
        try:
            value = float(value) if number and value is not None else value
        except ValueError:
            value = None
        if asked["kind"] == "boolean":
            value = None
        print(json.dumps({"id": asked["id"], "value": value, "confidence": confidence}), flush=True)
