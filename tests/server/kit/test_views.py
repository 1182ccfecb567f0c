"""Pictures as agents ask for them, beside those that agents make themselves."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pluriverse.rfb import Region, picture
from pluriverse.rfb.picture import PictureSpec
from pluriverse_protocol.step_channel import View, pack_handover, parse_view, unpack_handover
from pluriverse_server.kit import views

SIDES = st.integers(1, 40)


@st.composite
def pixels(draw: st.DrawFn) -> NDArray[np.uint8]:
    """RGB or grey, with gaps in it or without."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = chance.integers(0, 256, (draw(SIDES), draw(SIDES), draw(st.sampled_from((1, 3)))), np.uint8)
    return made[:, ::-1] if draw(st.booleans()) else made


ANY_VIEW = st.builds(
    View,
    st.none() | st.tuples(st.integers(0, 50), st.integers(0, 50), SIDES, SIDES),
    st.none() | st.tuples(SIDES, SIDES),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@settings(deadline=None)
@given(pixels(), ANY_VIEW.filter(lambda view: not view.is_whole))
def test_view_is_the_picture_that_the_agent_would_make_of_the_whole(whole: NDArray[np.uint8], view: View) -> None:
    before = whole.copy()
    crop = None if view.crop is None else Region(*view.crop)
    in_colour = np.ascontiguousarray(np.broadcast_to(whole, (*whole.shape[:2], 3)))
    expected = picture.make_picture(in_colour, PictureSpec(crop, view.size, grey=view.grey))
    for changes in (None, [(0, 1)]):
        assert views.make(whole, view, changes) == (expected.shape, None, expected.tobytes())
    assert views.make(whole, view, []) == (expected.shape, (), b"")
    assert np.array_equal(whole, before)


@given(pixels())
def test_without_a_view_pixels_stay_as_they_are(whole: NDArray[np.uint8]) -> None:
    for view in (None, View(audio=True)):
        assert views.make(whole, view) == (whole.shape, None, whole.tobytes())


@given(pixels())
def test_of_a_whole_picture_no_more_is_sent_than_the_rows_that_may_differ(whole: NDArray[np.uint8]) -> None:
    runs = [(0, 1), (len(whole) - 1, 1)]
    expected = whole[0].tobytes() + whole[-1].tobytes()
    assert views.make(whole, View(changes=True), runs) == (whole.shape, (0, 1, len(whole) - 1, 1), expected)


@given(st.integers(0, 255), ANY_VIEW)
def test_view_comes_through_an_address_and_a_handover(slot: int, view: View) -> None:
    wanted = None if view == View() else view
    assert parse_view(view.query()) == wanted
    assert unpack_handover(pack_handover(slot, wanted)) == (slot, wanted)


def test_where_it_was_not_built_there_are_no_views(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert views.available()
    monkeypatch.setattr(views, "LIBRARY", tmp_path / "none.so")
    assert not views.available()
