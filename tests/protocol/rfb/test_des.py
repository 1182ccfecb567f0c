from __future__ import annotations

from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse_protocol.rfb.des import encrypt_block

eight_bytes = st.binary(min_size=8, max_size=8)


def test_the_example_of_the_textbooks_comes_out() -> None:
    key, block = bytes.fromhex("133457799BBCDFF1"), bytes.fromhex("0123456789ABCDEF")
    assert encrypt_block(key, block) == bytes.fromhex("85E813540F0AB405")


@given(key=eight_bytes, block=eight_bytes)
@settings(max_examples=100, deadline=None)
def test_block_is_encrypted_as_openssl_does_it(key: bytes, block: bytes) -> None:
    # Three times with one key, the second time backwards, is once.
    encryptor = Cipher(TripleDES(key * 3), ECB()).encryptor()  # noqa: S305 - one block has no mode  # noqa: S305 - one block is what is compared
    assert encrypt_block(key, block) == encryptor.update(block) + encryptor.finalize()


@given(key=eight_bytes, block=eight_bytes)
@settings(max_examples=20, deadline=None)
def test_lowest_bit_of_each_byte_of_the_key_is_ignored(key: bytes, block: bytes) -> None:
    assert encrypt_block(key, block) == encrypt_block(bytes(octet ^ 1 for octet in key), block)
