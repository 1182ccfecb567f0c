"""What TigerVNC sent once, byte for byte; ``support.rfb_streams`` makes these recordings."""

from __future__ import annotations

import numpy as np
import pytest
from pluriverse.rfb.decoder import Decoder
from pluriverse.rfb.events import CursorShape, EndOfContinuousUpdates, Event, Fence, UpdateFinished
from support.rfb_streams import SCRIPTS, STREAMS, Recording

# Versions of libjpeg-turbo round differently.
ROUNDING = 2

every_recording = pytest.mark.parametrize("name", list(SCRIPTS))


def play(decoder: Decoder, stream: bytes, piece: int) -> list[Event]:
    return [event for at in range(0, len(stream), piece) for event in decoder.feed(stream[at : at + piece])]


def require_same(picture: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], recording: Recording) -> None:
    assert picture.shape == recording.picture.shape
    allowed = ROUNDING if recording.lossy else 0
    assert np.abs(picture.astype(int) - recording.picture).max() <= allowed


@every_recording
def test_stream_gives_the_recorded_picture_however_it_is_cut(decoder_class: type[Decoder], name: str) -> None:
    recording = Recording.load(STREAMS / f"{name}.npz")
    for piece in (7, 1460, 1 << 20):
        decoder = decoder_class(recording.width, recording.height)
        events = play(decoder, recording.stream, piece)
        require_same(decoder.framebuffer, recording)
        finished = [event for event in events if isinstance(event, UpdateFinished)]
        assert decoder.updates == len(finished)
        assert decoder.pixels == sum(event.pixels for event in finished)
        assert {Fence, EndOfContinuousUpdates, CursorShape} <= {type(event) for event in events}
