"""A vision model proposes labels, behind any endpoint that speaks OpenAI's chat completions.

VISION_URL=http://127.0.0.1:8000/v1 VISION_MODEL=… VISION_KEY=… \\
  pluriverse-server label --propose "python examples/propose_vision.py" greed/recordings/first.plrec
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

URL = os.environ["VISION_URL"].rstrip("/") + "/chat/completions"
MODEL = os.environ["VISION_MODEL"]
KEY = os.environ.get("VISION_KEY", "")
KINDS: dict[str | None, Any] = {"number": (int, float), "string": str, "boolean": bool, None: (int, float, str, bool)}
# Models on one machine answer one after the other; the first answer waits until one is loaded.
WORKERS, PATIENCE_S = 4, 120


def answer(line: str) -> dict[str, Any]:
    """What the model says of one picture."""
    asked = json.loads(line)
    x, y, width, height = asked["region"]
    text = (
        f"What does {json.dumps(asked['source'])}, of {width}x{height} pixels, show in this picture of a program? With "
        f"a whole screen, it is at ({x}, {y}). Answer with a JSON object and nothing else: "
        f'{{"value": a JSON {asked["kind"] or "value"}, or null if you can\'t tell, "confidence": 0 to 1}}'
    )
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + asked["png"]}}
    messages = [{"role": "user", "content": [{"type": "text", "text": text}, picture]}]
    body = json.dumps({"model": MODEL, "messages": messages, "temperature": 0}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(URL, body, headers)  # noqa: S310 - http(s)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:  # noqa: S310
        said = json.load(response)["choices"][0]["message"]["content"]
    found = re.search(r"\{.*\}", said, re.DOTALL)
    try:
        read: dict[str, Any] = json.loads(found[0]) if found else {}
    except ValueError:
        read = {}
    value = read.get("value")
    if not isinstance(value, KINDS[asked["kind"]]) or isinstance(value, bool) != (asked["kind"] == "boolean"):
        value = None
    return {"id": asked["id"], "value": value, "confidence": min(1.0, max(0.0, float(read.get("confidence", 0.5))))}


with ThreadPoolExecutor(WORKERS) as pool:
    for answered in pool.map(answer, sys.stdin):
        print(json.dumps(answered), flush=True)
