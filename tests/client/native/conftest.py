"""Streams of every encoding, to be damaged."""

import pytest
from support.rfb_damage import whole_streams


@pytest.fixture(scope="session")
def streams() -> list[bytes]:
    return whole_streams()
