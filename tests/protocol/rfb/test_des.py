from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse_protocol.rfb.des import encrypt_block


@given(key=st.binary(min_size=8, max_size=8), block=st.binary(min_size=8, max_size=8))
@settings(max_examples=100, deadline=None)
def test_block_is_encrypted_as_openssl_does_it(key: bytes, block: bytes) -> None:
    # Three times with one key, the second time backwards, is once.
    encryptor = Cipher(TripleDES(key * 3), ECB()).encryptor()  # noqa: S305 - one block has no mode
    assert encrypt_block(key, block) == encryptor.update(block) + encryptor.finalize()
