"""A vision model's proposals, from a server on this machine that answers from a table."""

from __future__ import annotations

import base64
import io
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from aiohttp import web
from PIL import Image
from pluriverse_server.authoring import AuthoringError
from pluriverse_server.authoring.propose.ask import Answer, Picture, ask
from pluriverse_server.authoring.propose.vision import KEY, MODEL, URL, fit, read

REGION = (2, 3, 8, 4)


class Model:
    """Answers from ``table``, by how red a picture's first pixel is; ``requests`` are what it was asked."""

    def __init__(self, table: dict[int, str]) -> None:
        self.table = table
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.address = ""

    async def answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.requests.append(asked)
        self.keys.add(request.headers.get("Authorization"))
        if asked["model"] != "eyes":
            return web.Response(status=404, text="no such model")
        url = asked["messages"][0]["content"][1]["image_url"]["url"]
        png = base64.b64decode(url.removeprefix("data:image/png;base64,"))
        red = Image.open(io.BytesIO(png)).convert("RGB").tobytes()[0]
        return web.json_response({"choices": [{"message": {"role": "assistant", "content": self.table[red]}}]})


@pytest.fixture
async def model(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Model]:
    served = Model(
        {1: '{"value": 120, "confidence": 0.9}', 2: 'It shows\n```json\n{"value": "1,250"}\n```', 3: "No idea"}
    )
    app = web.Application()
    app.router.add_post("/v1/chat/completions", served.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    for name, value in ((URL, served.address), (MODEL, "eyes"), (KEY, "secret")):
        monkeypatch.setenv(name, value)
    yield served
    await runner.cleanup()


def picture(red: int, size: tuple[int, int] = REGION[2:]) -> Picture:
    png = io.BytesIO()
    Image.new("RGB", size, (red, 0, 0)).save(png, "png")
    return Picture("score", "number", REGION, [float(red)], png.getvalue())


async def asked(*pictures: Picture) -> dict[int, Answer]:
    answers: dict[int, Answer] = {}
    await ask("vision", pictures, answers)
    return answers


async def test_what_a_model_says_is_proposed_as_sure_as_it_says_it_is(model: Model) -> None:
    answers = await asked(picture(1), picture(2), picture(3))
    assert [(answer.value, answer.confidence) for _, answer in sorted(answers.items())] == [
        (120, 0.9),
        (1250, 0.5),
        (None, 0),
    ]
    assert model.keys == {"Bearer secret"}
    assert "cut out of a program's screen, is called" in model.requests[0]["messages"][0]["content"][0]["text"]


async def test_of_a_whole_picture_the_model_is_told_the_region(model: Model) -> None:
    await asked(picture(1, (40, 30)))
    assert "The region of 8x4 pixels at (2, 3)" in model.requests[0]["messages"][0]["content"][0]["text"]


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        (MODEL, "blind", "refuses: 404 Not Found: no such model"),
        (MODEL, "", "no vision model is named: set PLURIVERSE_VISION_URL"),
        (URL, "file:///etc/passwd", "no vision model is named"),
        (URL, "http://127.0.0.1:1/v1", "doesn't answer"),
    ],
)
async def test_an_endpoint_that_cannot_be_used_is_told(
    model: Model,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    name: str,
    value: str,
    complaint: str,
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(AuthoringError, match="ended with status 1 after 0 of 1 answers"):
        await asked(picture(1))
    assert complaint in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "value", "sure"),
    [
        ('{"value": null, "confidence": 1}', None, 0),
        ('{"value": [1], "confidence": 1}', None, 0),
        ("{broken}", None, 0),
        ('{"value": NaN}', None, 0),
        ('{"value": ' + "[" * 100_000 + "}", None, 0),
        ('{"value": 3, "confidence": ' + "9" * 400 + "}", None, 0),
        ('{"value": 3, "confidence": 7}', 3, 1),
        ('{"value": 3, "confidence": "high"}', 3, 0.5),
        ('{"value": true, "confidence": 0.25}', True, 0.25),
    ],
)
def test_answers_are_read_however_they_are_written(text: str, value: object, sure: float) -> None:
    assert read(text) == (value, sure)


@pytest.mark.parametrize(
    ("value", "kind", "fitting"),
    [
        ("12", "number", 12),
        ("twelve", "number", None),
        (True, "number", None),
        (12, "string", "12"),
        (1, "boolean", None),
        (False, "boolean", False),
        (None, "string", None),
        ("x", None, "x"),
    ],
)
def test_values_are_of_the_kind_that_was_asked_for_or_none(value: Any, kind: str | None, fitting: object) -> None:
    assert fit(value, kind) == fitting
    assert type(fit(value, kind)) is type(fitting) or kind == "number"
