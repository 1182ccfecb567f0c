from __future__ import annotations

import pytest
from pluriverse_protocol.rfb.des import encrypt_block
from pluriverse_protocol.rfb.errors import AuthenticationFailed, NoCommonSecurity
from pluriverse_protocol.rfb.security import (
    SecurityType,
    answer_challenge,
    choose_subtype,
    choose_type,
    generate_password,
)

CHALLENGE = bytes(range(100, 116))


def test_answer_is_des_with_the_bits_of_the_password_reversed() -> None:
    key = bytes([0x86, 0x46, 0xC6, 0x26, 0, 0, 0, 0])  # a, b, c, d
    expected = encrypt_block(key, CHALLENGE[:8]) + encrypt_block(key, CHALLENGE[8:])
    assert answer_challenge("abcd", CHALLENGE) == expected


def test_only_eight_bytes_of_a_password_count() -> None:
    assert answer_challenge("12345678", CHALLENGE) == answer_challenge("123456789", CHALLENGE)
    assert answer_challenge("1234567", CHALLENGE) != answer_challenge("12345678", CHALLENGE)
    assert answer_challenge("éééé", CHALLENGE) == answer_challenge("éééé!", CHALLENGE)


def test_password_is_used_where_it_is_asked_for() -> None:
    assert choose_type([1, 2, 19], password=True, require_tls=False) is SecurityType.VNC
    assert choose_type([1, 2, 19], password=False, require_tls=False) is SecurityType.NONE
    assert choose_type([2, 19], password=False, require_tls=False) is SecurityType.VENCRYPT


def test_certificate_is_better_than_an_anonymous_server() -> None:
    assert choose_subtype([257, 258, 260, 261], password=True).number == 261
    assert choose_subtype([257, 258, 260, 261], password=False).number == 260
    assert choose_subtype([257, 258], password=True).number == 258


def test_what_cannot_be_chosen_is_told_by_name() -> None:
    with pytest.raises(NoCommonSecurity, match="Apple Remote Desktop"):
        choose_type([30], password=True, require_tls=False)
    with pytest.raises(AuthenticationFailed):
        choose_type([2], password=False, require_tls=False)
    with pytest.raises(NoCommonSecurity, match="X509SASL"):
        choose_subtype([264], password=True)


def test_generated_passwords_differ_and_vnc_compares_them_to_the_last_character() -> None:
    passwords = {generate_password() for _ in range(100)}
    assert len(passwords) == 100
    assert {len(password) for password in passwords} == {8}
    assert all(password.isalnum() and password.isascii() for password in passwords)
