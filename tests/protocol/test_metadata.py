import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.metadata import HEIGHT, MAX_MILLISECONDS, WIDTH, Metadata, decode, encode

times = st.integers(0, MAX_MILLISECONDS)


def test_the_block_is_the_bytes_that_old_agents_look_for() -> None:
    row0, row1 = encode(Metadata(clock=0x0102030405FE, probe=0x1A2B3C4D5E6F))
    assert row0 == bytes.fromhex("12 34 56 78 90 ab  01 02 03 04 05 fe  1a 2b 3c 4d 5e 6f")
    assert row1 == bytes.fromhex("23 45 67 89 0a bc") + bytes(12)
    assert (len(row0), len(row1)) == (WIDTH * 3, WIDTH * 3)
    assert HEIGHT == 2


@given(times, times)
def test_all_times_of_48_bits_come_back(clock: int, probe: int) -> None:
    metadata = Metadata(clock, probe)
    assert decode(*encode(metadata)) == metadata


@pytest.mark.parametrize("time", [-1, 2**48])
def test_times_that_do_not_fit_are_refused(time: int) -> None:
    for metadata in (Metadata(time, 0), Metadata(0, time)):
        with pytest.raises(ValueError, match="48 unsigned bits"):
            encode(metadata)


@given(st.integers(0, 11), st.integers(1, 255))
def test_an_anchor_with_one_byte_changed_is_none(index: int, change: int) -> None:
    rows = [bytearray(row) for row in encode(Metadata(1, 2))]
    row, column = divmod(index, 6)
    rows[row][column] ^= change
    assert decode(bytes(rows[0]), bytes(rows[1])) is None
