import base64

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.daemon.auth import secrets_of

PASSWORD = "secret12"


def authorized(header: str, password: str) -> bool:
    return Secrets(password).identify(*secrets_of(header)) is not None


def basic(credentials: str | bytes) -> str:
    data = credentials if isinstance(credentials, bytes) else credentials.encode()
    return "Basic " + base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "header",
    [
        basic(f"{PASSWORD}:"),
        basic(f":{PASSWORD}"),
        basic(f"agent:{PASSWORD}"),
        basic(f"{PASSWORD}:anything:at all"),
        basic(PASSWORD),
        basic(f"{PASSWORD}:").replace("Basic", "bAsIc"),
        f"  {basic(f'{PASSWORD}:')}  ",
        basic(f"{PASSWORD}:").replace(" ", "   "),
        f"Bearer {PASSWORD}",
        f"bearer   {PASSWORD} ",
    ],
)
def test_password_is_taken_in_either_field(header: str) -> None:
    assert authorized(header, PASSWORD)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Basic",
        PASSWORD,
        basic(""),
        basic("secret123:"),
        basic(" secret12:"),
        basic("secret12\n:"),
        basic("secret12\0:"),
        basic(f"a:b:{PASSWORD}"),
        basic(b"\xff\xfe:\x80"),
        basic("p\u00e4ss:w\u00f6rd"),
        basic(f"{PASSWORD}:").replace("Basic", "Bearer"),
        f"Basic {PASSWORD}",
        "Bearer",
        "Bearer \udcff",
        f"Basic {PASSWORD}:",
        "Basic \u00e4\u00f6\u00fc",
        "B\u00e4sic c2VjcmV0MTI6",
        "Basic c2VjcmV0MTI6\x00",
    ],
)
def test_anything_else_is_kept_out(header: str) -> None:
    assert not authorized(header, PASSWORD)


@settings(deadline=None)
@given(st.text() | st.binary().map(basic) | st.text().map(lambda text: f"Basic {text}"))
@example("Basic \ud800")
def test_any_header_is_let_in_or_kept_out_without_an_error(header: str) -> None:
    assert authorized(header, "a password that is not guessed") is False


def test_garbage_matches_no_password_of_question_marks() -> None:
    assert not authorized("Bearer \udcff\udcff", "??")
    assert not authorized(basic(b"\xff\xff"), "??")
