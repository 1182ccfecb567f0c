import io

import pytest
from pluriverse_protocol import bounded


def test_lines_are_read_up_to_exactly_their_limit_and_the_last_may_have_no_end() -> None:
    assert list(bounded.lines(io.BytesIO(b"a\nbc"), 4)) == [b"a\n", b"bc"]
    with pytest.raises(ValueError, match="over 3 bytes"):
        list(bounded.lines(io.BytesIO(b"a\nbc"), 3))


@pytest.mark.parametrize("data", [b"a = " + b"[" * 100_000, b"a = " + b"9" * 5000, b"\xff", b"a = 1\na = 2"])
def test_what_is_no_toml_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each says something else
        bounded.parse_toml(data)
