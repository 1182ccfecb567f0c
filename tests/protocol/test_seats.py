import pytest
from pluriverse_protocol import seats
from pluriverse_protocol.limits import MAX_TOKEN_CHARS


def test_token_is_any_text_that_is_not_too_long() -> None:
    assert seats.parse_token("1f" * 16) == "1f" * 16
    assert seats.parse_token("x" * MAX_TOKEN_CHARS) == "x" * MAX_TOKEN_CHARS
    for header in (None, "", "x" * (MAX_TOKEN_CHARS + 1)):
        assert seats.parse_token(header) is None


@pytest.mark.parametrize("header", [None, "", "-1", "1.5", "x", "\u0661", "\u00b2", "1" * 19])
def test_what_is_no_number_is_none(header: str | None) -> None:
    assert seats.parse_last_number(header) is None
