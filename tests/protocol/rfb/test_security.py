from pluriverse_protocol.rfb.des import encrypt_block
from pluriverse_protocol.rfb.security import (
    answer_challenge,
    generate_password,
)

CHALLENGE = bytes(range(100, 116))


def test_answer_is_des_with_the_bits_of_the_password_reversed() -> None:
    key = bytes([0x86, 0x46, 0xC6, 0x26, 0, 0, 0, 0])  # a, b, c, d
    expected = encrypt_block(key, CHALLENGE[:8]) + encrypt_block(key, CHALLENGE[8:])
    assert answer_challenge("abcd", CHALLENGE) == expected


def test_generated_passwords_differ_and_vnc_compares_them_to_the_last_character() -> None:
    passwords = {generate_password() for _ in range(100)}
    assert len(passwords) == 100
    assert {len(password) for password in passwords} == {8}
    assert all(password.isalnum() and password.isascii() for password in passwords)
