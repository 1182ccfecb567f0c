import pytest
from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.limits import MAX_FENCE_BYTES
from pluriverse_protocol.rfb.numbers import FenceFlag
from pluriverse_protocol.rfb.steps import StepReader, Steps


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (messages.set_pixel_format(), "00 000000 20 18 00 01 00ff 00ff 00ff 10 08 00 000000"),
        (messages.set_encodings([7, 16, -223]), "02 00 0003 00000007 00000010 ffffff21"),
        (messages.set_encodings([]), "02 00 0000"),
        (messages.framebuffer_update_request(1, 2, 1024, 768, incremental=True), "03 01 0001 0002 0400 0300"),
        (messages.framebuffer_update_request(0, 0, 1, 1, incremental=False), "03 00 0000 0000 0001 0001"),
        (messages.key_event(0xFF52, True), "04 01 0000 0000ff52"),
        (messages.key_event(0x10000E9, False), "04 00 0000 010000e9"),
        (messages.pointer_event(300, 200, 0b101), "05 05 012c 00c8"),
        (messages.pointer_event(300, 200, 0b1000_0101), "05 85 012c 00c8"),
        (messages.pointer_event(300, 200, 0b0000_0101, extended=True), "05 05 012c 00c8"),
        (messages.pointer_event(300, 200, 0b1_0000_0101, extended=True), "05 85 012c 00c8 02"),
        (messages.fence(FenceFlag.REQUEST | FenceFlag.SYNC_NEXT, b"ab"), "f8 000000 80000004 02 6162"),
        (messages.enable_continuous_updates(True, 0, 0, 800, 600), "96 01 0000 0000 0320 0258"),
        (messages.set_desktop_size(800, 600), "fb 00 0320 0258 01 00 00000000 0000 0000 0320 0258 00000000"),
    ],
)
def test_message_is_as_the_rfc_has_it(message: bytes, expected: str) -> None:
    assert message == bytes.fromhex(expected)


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("mask", [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0x1FF])
def test_pointer_event_is_read_as_it_was_written(mask: int, extended: bool) -> None:
    if mask > 0xFF and not extended:
        return
    read: list[tuple[int, bytes]] = []

    def reading() -> Steps[None]:
        while True:
            read.append((yield from messages.read_message([5], extended=extended)))

    StepReader(reading()).feed(2 * messages.pointer_event(300, 200, mask, extended=extended))
    assert [messages.pointer_of(message) for _, message in read] == 2 * [(300, 200, mask)]


def test_what_servers_do_not_take_is_refused() -> None:
    with pytest.raises(ValueError, match="fence"):
        messages.fence(0, bytes(MAX_FENCE_BYTES + 1))
