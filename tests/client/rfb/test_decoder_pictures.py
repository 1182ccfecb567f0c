"""Every encoding, made by a small encoder out of pictures of all kinds, for both decoders."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import simplejpeg  # pyright: ignore[reportMissingTypeStubs] - it has them, in an unusual place
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pluriverse.rfb import picture as in_python
from pluriverse.rfb.decoder import Decoder, Region, implementation, make_picture
from pluriverse.rfb.events import UpdateFinished
from pluriverse.rfb.picture import PictureSpec
from support.rfb_encoders import LOSSLESS, Encoder, copyrect, update

WIDTH, HEIGHT = 150, 140
Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class Placed:
    kind: str
    x: int
    y: int
    picture: Picture


@st.composite
def pictures(draw: st.DrawFn, *, max_width: int = WIDTH, max_height: int = HEIGHT) -> Picture:
    """Few colours or many, in runs or specks, of any size."""
    width, height = draw(st.integers(1, max_width)), draw(st.integers(1, max_height))
    colours = draw(st.sampled_from([1, 2, 3, 4, 5, 16, 17, 127, 128, 256, 5000]))
    runs = draw(st.sampled_from([1, 2, 7, 300]))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    palette = chance.integers(0, 256, (colours, 3), dtype=np.uint8)
    indices = chance.integers(0, colours, width * height).repeat(chance.integers(1, runs + 1, width * height))
    return palette[indices[: width * height]].reshape(height, width, 3)


@st.composite
def placed(draw: st.DrawFn, kinds: tuple[str, ...]) -> Placed:
    picture = draw(pictures())
    height, width, _ = picture.shape
    x, y = draw(st.integers(0, WIDTH - width)), draw(st.integers(0, HEIGHT - height))
    return Placed(draw(st.sampled_from(kinds)), x, y, picture)


def pieces(stream: bytes, sizes: list[int]) -> Iterator[bytes]:
    at = 0
    while at < len(stream):
        for size in sizes:
            yield stream[at : at + size]
            at += size


every_kind = pytest.mark.parametrize("kind", [*LOSSLESS, "tight copy", "tight gradient"])
# The encoders are slow, pixel by pixel; Hypothesis' own measure of slowness doesn't fit them.
quick = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@every_kind
@given(data=st.data())
@quick
def test_picture_comes_out_as_it_went_in_however_the_stream_is_cut(
    decoder_class: type[Decoder], kind: str, data: st.DataObject
) -> None:
    rectangles = data.draw(st.lists(placed((kind,)), min_size=1, max_size=3))
    encoder = Encoder(data.draw(st.integers(0, 1000)))
    expected = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    stream = b""
    for one in rectangles:
        height, width, _ = one.picture.shape
        expected[one.y : one.y + height, one.x : one.x + width] = one.picture
        stream += update(encoder.encode(one.kind, one.picture, one.x, one.y), last_rect=data.draw(st.booleans()))
    decoder = decoder_class(WIDTH, HEIGHT)
    events = [
        event
        for piece in pieces(stream, data.draw(st.lists(st.integers(1, 5000), min_size=1, max_size=5)))
        for event in decoder.feed(piece)
    ]
    np.testing.assert_array_equal(decoder.framebuffer, expected)
    sizes = [one.picture.shape[0] * one.picture.shape[1] for one in rectangles]
    assert events == [UpdateFinished(1, size) for size in sizes]
    assert (decoder.updates, decoder.pixels) == (len(rectangles), sum(sizes))


@given(
    picture=pictures(),
    source=st.tuples(st.integers(0, WIDTH - 60), st.integers(0, HEIGHT - 50)),
    target=st.tuples(st.integers(0, WIDTH - 60), st.integers(0, HEIGHT - 50)),
)
@quick
def test_copied_rectangle_may_overlap_its_source(
    decoder_class: type[Decoder], picture: Picture, source: tuple[int, int], target: tuple[int, int]
) -> None:
    decoder = decoder_class(WIDTH, HEIGHT)
    decoder.feed(update(Encoder().encode("raw", picture)))
    expected = decoder.framebuffer.copy()
    (from_x, from_y), (x, y) = source, target
    expected[y : y + 50, x : x + 60] = expected[from_y : from_y + 50, from_x : from_x + 60].copy()
    decoder.feed(update(copyrect(x, y, 60, 50, from_x, from_y)))
    np.testing.assert_array_equal(decoder.framebuffer, expected)


@pytest.mark.parametrize("width", [WIDTH, 90])
def test_jpeg_is_decoded_as_libjpeg_does_it(decoder_class: type[Decoder], width: int) -> None:
    y, x = np.mgrid[0:70, 0:width]
    picture = np.stack([x, 2 * y, 255 - x], axis=2).astype(np.uint8)
    decoder = decoder_class(WIDTH, HEIGHT)
    stream = update(Encoder().encode("tight jpeg", picture, 0, 20))
    decoder.feed(stream)
    jpeg = stream[stream.index(b"\xff\xd8") :]
    decoded = simplejpeg.decode_jpeg(jpeg, "RGB").astype(int)
    # Versions of libjpeg-turbo round differently.
    assert np.abs(decoder.framebuffer[20:90, :width] - decoded).max() <= 2
    assert not decoder.framebuffer[:20].any()
    assert not decoder.framebuffer[90:].any()
    assert not decoder.framebuffer[:, width:].any()


@given(rectangles=st.lists(placed((*LOSSLESS, "tight jpeg")), min_size=1, max_size=5), seed=st.integers(0, 1000))
@quick
def test_regions_hold_the_same_as_without_regions(
    decoder_class: type[Decoder], rectangles: list[Placed], seed: int
) -> None:
    encoder = Encoder(seed)
    stream = b"".join(update(encoder.encode(one.kind, one.picture, one.x, one.y)) for one in rectangles)
    regions = [Region(3, 4, 20, 10), Region(100, 90, 30, 50)]
    whole, part = decoder_class(WIDTH, HEIGHT), decoder_class(WIDTH, HEIGHT, regions=regions)
    assert whole.feed(stream) == part.feed(stream)
    for x, y, width, height in regions:
        area = np.s_[y : y + height, x : x + width]
        np.testing.assert_array_equal(part.framebuffer[area], whole.framebuffer[area])


def test_jpeg_outside_of_the_regions_is_not_even_looked_at(decoder_class: type[Decoder]) -> None:
    stream = update(Encoder().encode("tight jpeg", np.full((40, 40, 3), 200, np.uint8), 60, 60))
    broken = stream.replace(b"\xff\xd8", b"\0\0")
    decoder = decoder_class(WIDTH, HEIGHT, regions=[Region(0, 0, 60, HEIGHT)])
    assert decoder.feed(broken) == [UpdateFinished(1, 1600)]
    assert decoder.pixels == 1600


def test_gradient_of_a_tall_and_of_a_wide_rectangle(decoder_class: type[Decoder]) -> None:
    chance = np.random.default_rng(4)
    for height, width in ((600, 5), (3, 700)):
        picture = chance.integers(0, 256, (height, width, 3), dtype=np.uint8)
        decoder = decoder_class(width, height)
        decoder.feed(update(Encoder().encode("tight gradient", picture)))
        np.testing.assert_array_equal(decoder.framebuffer, picture)


@st.composite
def specs(draw: st.DrawFn) -> PictureSpec:
    crop = st.builds(Region, st.integers(0, WIDTH), st.integers(0, HEIGHT), st.integers(1, 200), st.integers(1, 200))
    size = st.tuples(st.integers(1, 100), st.integers(1, 100))
    return PictureSpec(draw(st.none() | crop), draw(st.none() | size), grey=draw(st.booleans()))


@pytest.mark.skipif(implementation().startswith("python"), reason="the native part was not built")
@settings(deadline=None)
@given(pictures(), specs(), st.booleans())
def test_native_picture_of_one_screen_is_pythons(screen: Picture, spec: PictureSpec, reverse: bool) -> None:
    # A screen that isn't in one piece, too.
    screen = screen[::-1] if reverse else screen
    before = screen.copy()
    expected = in_python.make_picture(screen, spec)
    assert np.array_equal(make_picture(screen, spec), expected)
    assert np.array_equal(screen, before)


@pytest.mark.skipif(implementation().startswith("python"), reason="the native part was not built")
def test_native_picture_of_what_is_no_screen_is_refused() -> None:
    native = pytest.importorskip("pluriverse.rfb._native").make_picture
    for screen, height, width in ((bytes(11), 2, 2), (bytes(12), 2, 3), (b"", 0, 0), (bytes(12), -2, -2)):
        with pytest.raises(ValueError, match="screen"):
            native(screen, height, width, PictureSpec())
    with pytest.raises(TypeError):
        native(None, 2, 2, PictureSpec())
