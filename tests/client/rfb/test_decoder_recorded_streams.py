"""What TigerVNC sent once, byte for byte: each encoding, in updates of pictures of all kinds."""

from pathlib import Path

import numpy as np
import pytest
from pluriverse.rfb.decoder import Decoder
from pluriverse.rfb.events import CursorShape, EndOfContinuousUpdates, Event, Fence, UpdateFinished

STREAMS = sorted(Path(__file__).with_name("streams").glob("*.npz"))
# Versions of libjpeg-turbo round differently.
ROUNDING = 2


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_stream_gives_the_recorded_picture_however_it_is_cut(decoder_class: type[Decoder], path: Path) -> None:
    with np.load(path) as recorded:
        (width, height), stream, picture = recorded["size"].tolist(), recorded["stream"].tobytes(), recorded["picture"]
        allowed = ROUNDING if recorded["lossy"] else 0
    for piece in (7, 1460, 1 << 20):
        decoder = decoder_class(width, height)
        events: list[Event] = []
        for at in range(0, len(stream), piece):
            events += decoder.feed(stream[at : at + piece])
        assert np.abs(decoder.framebuffer.astype(int) - picture).max() <= allowed
        finished = [event for event in events if isinstance(event, UpdateFinished)]
        assert decoder.updates == len(finished)
        assert decoder.pixels == sum(event.pixels for event in finished)
        assert {Fence, EndOfContinuousUpdates, CursorShape} <= {type(event) for event in events}
