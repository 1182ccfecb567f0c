"""Texts as tensors."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.texts import TEXT_BYTES, decode, encode, text_spec


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")))
def test_texts_come_back_as_they_were(text: str) -> None:
    row = tensors.chosen().tensor(encode(text))
    assert text_spec().contains(row)
    assert decode(row) == text


def test_long_text_is_cut_between_two_characters() -> None:
    text = "ab" + "é" * TEXT_BYTES
    assert decode(encode(text)) == text[: TEXT_BYTES // 2 + 1]
    assert decode(encode("a" + text)) == ("a" + text)[: TEXT_BYTES // 2 + 1]
