import numpy as np
import pytest
from realtime.mines import CLOSED, MINES, SIDE, Squares, chances


def board(*rows: str) -> Squares:
    """Return a board whose other rows are open and empty; ``#`` is closed."""
    rows += ("." * SIDE,) * (SIDE - len(rows))
    return np.array([[CLOSED if square == "#" else int(square.replace(".", "0")) for square in row] for row in rows])


def test_two_digits_together_say_which_squares_are_safe() -> None:
    # By the first 1 a mine is in the first two squares above, so the second 1 has none in the third.
    found = chances(board("#########", "#########", "112221..."))
    assert found[1, 2] == pytest.approx(0)
    assert found[1, 1] == pytest.approx(1)
    assert found[0, 0] == pytest.approx((MINES - 3) / SIDE)


def test_number_of_all_mines_counts() -> None:
    # Nine mines surround what is open, of ten: the tenth is one of the three squares that nothing is known of.
    squares = np.zeros((SIDE, SIDE), np.int64)
    squares[0], squares[1] = CLOSED, (2, 3, 3, 3, 3, 3, 3, 3, 2)
    squares[8, 6:] = CLOSED
    squares[7, 5:], squares[8, 5] = (1, 1, 1, 0), 1
    found = chances(squares)
    assert all(found[0, column] == pytest.approx(1) for column in range(SIDE))
    assert found[8, 6] == pytest.approx(1)
    assert found[8, 8] == pytest.approx(0)


def test_contradiction_says_nothing() -> None:
    assert chances(board("#1.......", "2........", ".........")) == {}
