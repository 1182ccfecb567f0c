import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.computer.view import View
from pluriverse.errors import ActionError

sides = st.integers(1, 3000)
boxes = st.tuples(st.integers(0, 500), st.integers(0, 500), sides, sides)


@given(boxes, st.floats(0.05, 1), st.data())
def test_a_pixel_of_a_smaller_picture_stands_for_one_that_it_shows(
    box: tuple[int, ...], scale: float, data: st.DataObject
) -> None:
    x, y, across, down = box
    view = View((x, y, across, down), max(1, int(across * scale)), max(1, int(down * scale)))
    point = data.draw(st.tuples(st.integers(0, view.width - 1), st.integers(0, view.height - 1)))
    there = view.to_screen(point)
    assert x <= there[0] < x + across
    assert y <= there[1] < y + down
    assert view.to_picture(there) == point


@given(boxes, st.integers(1, 4), st.data())
def test_each_pixel_of_the_screen_can_be_pointed_at_in_a_larger_picture(
    box: tuple[int, ...], factor: int, data: st.DataObject
) -> None:
    x, y, across, down = box
    view = View((x, y, across, down), across * factor, down * factor)
    there = data.draw(st.tuples(st.integers(x, x + across - 1), st.integers(y, y + down - 1)))
    assert view.to_screen(view.to_picture(there)) == there


@given(boxes, sides, sides, st.data())
def test_a_box_in_the_picture_has_every_pixel_that_shows_it(
    box: tuple[int, int, int, int], width: int, height: int, data: st.DataObject
) -> None:
    x, y, across, down = box
    view = View(box, width, height)
    left, top = data.draw(st.tuples(st.integers(x, x + across - 1), st.integers(y, y + down - 1)))
    right, bottom = data.draw(st.tuples(st.integers(left + 1, x + across), st.integers(top + 1, y + down)))
    px, py, wide, high = view.to_picture_box((left, top, right - left, bottom - top))
    assert 0 <= px < px + wide <= width
    assert 0 <= py < py + high <= height
    for corner in ((left, top), (right - 1, bottom - 1)):
        shown = view.to_picture(corner)
        assert px <= shown[0] < px + wide
        assert py <= shown[1] < py + high


@given(boxes, sides, sides)
def test_a_fitted_view_keeps_proportions_and_fits(box: tuple[int, int, int, int], width: int, height: int) -> None:
    view = View.fitted(box, width, height)
    assert view.width <= max(1, width)
    assert view.height <= max(1, height)
    assert abs(view.width / box[2] - view.height / box[3]) <= 1 / min(box[2], box[3]) + 1e-9


@given(boxes, st.integers(2, 900), st.integers(2, 900), st.data())
def test_a_part_shows_all_its_corners(
    box: tuple[int, int, int, int], width: int, height: int, data: st.DataObject
) -> None:
    view = View(box, width, height)
    left, right = sorted(data.draw(st.lists(st.integers(0, width), min_size=2, max_size=2, unique=True)))
    top, bottom = sorted(data.draw(st.lists(st.integers(0, height), min_size=2, max_size=2, unique=True)))
    x, y, across, down = view.part((left, top, right, bottom))
    assert box[0] <= x < x + across <= box[0] + box[2]
    assert box[1] <= y < y + down <= box[1] + box[3]
    corner = view.to_screen((right - 1, bottom - 1))
    assert x <= corner[0] < x + across
    assert y <= corner[1] < y + down


@pytest.mark.parametrize("corners", [(0, 0, 0, 10), (10, 0, 5, 10), (0, 0, 101, 10), (-1, 0, 10, 10)])
def test_a_part_that_is_empty_or_outside_is_refused(corners: tuple[int, int, int, int]) -> None:
    with pytest.raises(ActionError, match="expected \\[left, top, right, bottom\\]"):
        View((0, 0, 200, 100), 100, 50).part(corners)
