"""Proposes what a vision model says, through any endpoint that speaks OpenAI's chat completions.

PLURIVERSE_VISION_URL is its address up to ``/chat/completions``, such as http://127.0.0.1:8000/v1,
PLURIVERSE_VISION_MODEL the model, and PLURIVERSE_VISION_KEY the key, if it wants one.
"""

from __future__ import annotations

import base64
import http.client
import json
import math
import os
import re
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, cast

from pluriverse_protocol import bounded
from pluriverse_protocol.strict_json import parse

from pluriverse_server.manifest.conditions import Value

from .lines import Question, answer, questions

URL: Final = "PLURIVERSE_VISION_URL"
MODEL: Final = "PLURIVERSE_VISION_MODEL"
KEY: Final = "PLURIVERSE_VISION_KEY"

# Models on this machine take seconds; the first answer waits until one is loaded.
ANSWER_S: Final = 120.0

# More at once is refused by many endpoints, and by those on this machine answered one after the other.
WORKERS: Final = 4

# Enough of a refusal to see what is wrong.
QUOTED_CHARS: Final = 300

# What a model that doesn't say how sure it is may be trusted: its answers are looked at as doubtful ones.
UNSTATED: Final = 0.5

_SHOWN: Final = {
    "number": "the number that it shows, as a JSON number",
    "string": "the text that it shows, as a JSON string",
    "boolean": "true if what its name says is visible, else false",
    None: "what it shows, as a JSON number or string",
}


class VisionError(Exception):
    """The endpoint can't be used; the message says why, and what mends it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked."""

    url: str
    model: str
    key: str = field(default="", repr=False)

    @classmethod
    def of_environment(cls) -> Endpoint:
        """Return what the environment names; raise VisionError if it doesn't."""
        url, model = os.environ.get(URL, ""), os.environ.get(MODEL, "")
        if not url.startswith(("http://", "https://")) or not model:
            raise VisionError(
                f"no vision model is named: set {URL} to an endpoint's address, such as http://127.0.0.1:8000/v1, "
                f"{MODEL} to the model, and {KEY} to the key, if it wants one"
            )
        return cls(url.rstrip("/"), model, os.environ.get(KEY, ""))

    def ask(self, question: Question) -> tuple[Value, float]:
        """Return what the model says that the picture shows, and how sure it says it is; raise VisionError."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        body = json.dumps(self._request(question)).encode()
        request = urllib.request.Request(f"{self.url}/chat/completions", body, headers)  # noqa: S310 - http(s), see above
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_S) as response:  # noqa: S310
                said = parse(bounded.read(response))
            return read(said["choices"][0]["message"]["content"])
        except urllib.error.HTTPError as error:
            why = error.read().decode(errors="replace")[:QUOTED_CHARS].strip()
            raise VisionError(f"{self.url} refuses: {error.code} {error.reason}: {why}") from None
        except (OSError, http.client.HTTPException) as error:
            raise VisionError(f"{self.url} doesn't answer: {error}; is it {URL}?") from None
        except (ValueError, LookupError, TypeError):
            raise VisionError(f"{self.url} answers otherwise than OpenAI's chat completions do; is it {URL}?") from None

    def _request(self, question: Question) -> dict[str, Any]:
        x, y, width, height = question.region
        where = "This picture, which was cut out of a program's screen,"
        if _whole(question):
            where = f"The region of {width}x{height} pixels at ({x}, {y}) of this picture of a program's screen"
        text = (
            f"{where} is called {json.dumps(question.source)}. Answer with a JSON object and nothing else: "
            f'{{"value": {_SHOWN[question.kind]}, or null if you can\'t tell, '
            '"confidence": how sure you are, from 0 to 1}'
        )
        picture = "data:image/png;base64," + base64.b64encode(question.png).decode()
        content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": picture}}]
        return {"model": self.model, "messages": [{"role": "user", "content": content}], "temperature": 0}


def read(text: str) -> tuple[Value, float]:
    """Return the value and confidence in a model's answer, around which it may have written more; None: it has none."""
    found = re.search(r"\{.*\}", text, re.DOTALL)
    try:
        said: Any = parse(found[0]) if found else {}
    except ValueError:
        return None, 0.0
    value, sure = said.get("value"), said.get("confidence", UNSTATED)
    if not isinstance(value, bool | int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
        return None, 0.0
    return value, min(1.0, max(0.0, float(sure))) if isinstance(sure, int | float) else UNSTATED


def fit(value: Value, kind: str | None) -> Value:
    """Return a value as one of its ``kind``, None if it isn't one: models write numbers as texts."""
    if kind == "number" and isinstance(value, str):
        try:
            return float(value.replace(",", ""))
        except ValueError:
            return None
    expected = {"number": (int, float), "string": (str,), "boolean": (bool,)}.get(cast("str", kind))
    if expected is None or (isinstance(value, expected) and (kind == "boolean") == isinstance(value, bool)):
        return value
    return str(value) if kind == "string" and value is not None else None


def _whole(question: Question) -> bool:
    # A PNG's width and height, which follow its signature and the header's name.
    size = (int.from_bytes(question.png[16:20]), int.from_bytes(question.png[20:24]))
    return size != question.region[2:]


def main() -> None:
    """Ask about each picture, some at a time."""
    endpoint = Endpoint.of_environment()
    with ThreadPoolExecutor(WORKERS) as pool:
        asked = list(questions())
        try:
            for question, (value, sure) in zip(asked, pool.map(endpoint.ask, asked), strict=True):
                answer(question, fit(value, question.kind), sure)
        except VisionError:
            pool.shutdown(cancel_futures=True)
            raise


if __name__ == "__main__":
    try:
        main()
    except VisionError as error:
        sys.exit(str(error))
