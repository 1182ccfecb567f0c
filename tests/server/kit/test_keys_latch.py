from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.kit import KeyLatch

EDGES = st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=40)


def test_forgotten_presses_do_not_count_and_held_keys_do() -> None:
    latch = KeyLatch()
    latch.apply(1, down=True)
    latch.apply(1, down=False)
    latch.apply(2, down=True)
    latch.forget_presses()
    assert latch.take() == {2}


@given(EDGES)
def test_what_counts_is_what_is_down_and_what_went_down_since(edges: list[tuple[int, bool]]) -> None:
    latch, down, pressed = KeyLatch({4}), {4}, set[int]()
    for keysym, is_down in edges:
        latch.apply(keysym, down=is_down)
        if is_down:
            down.add(keysym)
            pressed.add(keysym)
        else:
            down.discard(keysym)
    assert latch.held == down
    assert latch.take() == down | pressed
    assert latch.take() == down
