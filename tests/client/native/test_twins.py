"""The two decoders make the same of the same bytes, however damaged."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from pluriverse.rfb import Region, RfbProtocolError
from pluriverse.rfb.decoder import Decoder
from pluriverse.rfb.events import Bell, CursorShape, Event
from pluriverse.rfb.picture import PictureSpec
from pluriverse.rfb.python_decoder import PythonDecoder
from pluriverse_protocol.rfb import limits
from support.nightly import nightly_but
from support.rfb_damage import HEIGHT, WIDTH, cut, damaged

native = pytest.importorskip("pluriverse.rfb._native", reason="the native part was not built")

ITERATIONS = 600


def outcome(decoder: Decoder, chunks: Sequence[bytes]) -> tuple[list[object], type[RfbProtocolError] | None]:
    """What happened, and the error that ended it."""
    happened: list[object] = []
    try:
        for chunk in chunks:
            happened += [comparable(event) for event in decoder.feed(chunk)]
    except RfbProtocolError as error:
        return happened, type(error)
    return happened, None


def comparable(event: Event) -> object:
    if isinstance(event, CursorShape):
        return event.hotspot_x, event.hotspot_y, event.rgba.shape, event.rgba.tobytes()
    return event


def assert_the_same(one: Decoder, other: Decoder, chunks: Sequence[bytes]) -> None:
    assert outcome(one, chunks) == outcome(other, chunks)
    assert (one.width, one.height, one.updates, one.pixels) == (other.width, other.height, other.updates, other.pixels)


def test_limits_are_the_same() -> None:
    assert {name: getattr(limits, name) for name in native.LIMITS} == native.LIMITS


def test_whole_streams_give_the_same_picture(streams: list[bytes]) -> None:
    for stream in streams:
        one, other = native.NativeDecoder(WIDTH, HEIGHT), PythonDecoder(WIDTH, HEIGHT)
        assert_the_same(one, other, cut(stream, random.Random(1)))
        assert np.array_equal(one.framebuffer, other.framebuffer)


@pytest.mark.parametrize("seed", nightly_but([0], range(6)))
def test_damaged_streams_give_the_same_picture_or_the_same_error(streams: list[bytes], seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(ITERATIONS // 6):
        chunks = cut(damaged(chance.choice(streams), chance), chance)
        regions = [Region(5, 5, 30, 30)] if chance.random() < 0.3 else None
        one, other = (each(WIDTH, HEIGHT, regions=regions) for each in (native.NativeDecoder, PythonDecoder))
        assert_the_same(one, other, chunks)
        # Within a rectangle one may have painted more of it than the other. Between messages a bell is heard.
        bell = outcome(one, [b"\x02"])
        assert outcome(other, [b"\x02"]) == bell
        if bell == ([Bell()], None) and regions is None:
            assert np.array_equal(one.framebuffer, other.framebuffer)


def spec_of(chance: random.Random) -> PictureSpec:
    """Any picture of the screen, or of what lies beyond it."""

    def somewhere(width: int, height: int) -> Region | None:
        if chance.random() < 0.4:
            return None
        return Region(chance.randrange(WIDTH + 20), chance.randrange(HEIGHT + 20), width, height)

    crop = somewhere(chance.randint(1, WIDTH), chance.randint(1, HEIGHT))
    size = (chance.randint(1, 100), chance.randint(1, 160)) if chance.random() < 0.5 else None
    scale = 1 if size else chance.choice([1, 2, 3, 4, 7, 8, 64])
    return PictureSpec(crop, size, scale, chance.random() < 0.5, somewhere(6, 2))


@pytest.mark.parametrize("seed", nightly_but([0], range(4)))
def test_pictures_are_the_same(streams: list[bytes], seed: int) -> None:
    chance = random.Random(seed)
    for stream in streams:
        for _ in range(4):
            spec = spec_of(chance)
            one, other = native.NativeDecoder(WIDTH, HEIGHT, spec=spec), PythonDecoder(WIDTH, HEIGHT, spec=spec)
            assert_the_same(one, other, cut(stream, chance))
            assert np.array_equal(one.picture, other.picture), spec
            assert one.block == other.block, spec


@pytest.mark.parametrize(
    "spec",
    [
        5,
        (None, None, 1, False),
        (5, None, 1, False, None),
        (None, (0, 5), 1, False, None),
        (None, (5, 5, 5), 1, False, None),
        (None, None, 0, False, None),
        (None, None, 65, False, None),
        (None, None, 1, False, (0, 0, 0, 1)),
    ],
)
def test_native_decoder_refuses_pictures_that_are_none(spec: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        native.NativeDecoder(WIDTH, HEIGHT, spec=spec)


@pytest.mark.parametrize("regions", [5, [5], [(1, 2, 3)], [(0, 0, 0, 5)], [(-1, 0, 5, 5)], [("a", 0, 5, 5)]])
def test_native_decoder_refuses_regions_that_are_none(regions: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        native.NativeDecoder(WIDTH, HEIGHT, regions=regions)
