import contextlib
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.errors import ConfigurationError
from pluriverse.remotes.options import Bytes, parse_bytes, parse_options


@dataclass(frozen=True, kw_only=True)
class Options:
    image: str | None = None
    cpu: float = 0.25
    memory: Bytes | None = None
    warm: int = 0
    owned: bool = True

    def __post_init__(self) -> None:
        if self.warm > 9:
            raise ValueError("warm is too many")


def test_options_are_read_as_what_their_fields_are() -> None:
    read = parse_options("ray", "image=me/it:1&cpu=1.5&memory=256Mi&warm=2&owned=no", Options)
    assert read == Options(image="me/it:1", cpu=1.5, memory=Bytes(256 * 1024**2), warm=2, owned=False)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("colour=red", "no option 'colour'; expected one of: image, cpu, memory, warm, owned"),
        ("cpu=1&cpu=2", "'cpu' is given twice"),
        ("cpu=many", "cpu is 'many', expected a number from 0"),
        ("cpu=inf", "expected a number from 0"),
        ("cpu=-1", "expected a number from 0"),
        ("warm=1.5", "expected a whole number"),
        ("memory=lots", "expected bytes"),
        ("image=", "expected printable text"),
        ("owned=maybe", "expected yes or no"),
        ("warm", "can't be read"),
        ("warm=10", "ray: warm is too many"),
    ],
)
def test_what_is_no_option_is_refused_with_what_was_expected(query: str, told: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_options("ray", query, Options)
    assert told in str(caught.value)


@pytest.mark.parametrize(("text", "size"), [("5", 5), ("1Ki", 1024), ("2k", 2000), ("3Gi", 3 * 2**30), ("1T", 10**12)])
def test_bytes_are_written_as_kubernetes_does(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@given(st.text(), st.text())
def test_any_value_is_taken_or_refused_with_an_error_of_ours(name: str, value: str) -> None:
    with contextlib.suppress(ConfigurationError):
        parse_options("ray", urlencode({name: value}), Options)
