"""Tasks in XBoard, a chess board: which moves are in the game that it has saved."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any, Final

from hands import click, drag, press, wait, write
from pluriverse_server.kit import Look, Task
from words import word

Parameters = dict[str, Any]

START: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

# The middle of a1, and the way to the next square.
CORNER, APART = (43, 718), 79.6


class _Chess(Task):
    """``moves`` returns a position, the moves (``e2e4``), how they are written (``e4``), wrong ones, and more."""

    def moves(self, rng: Random) -> tuple[str, list[str], list[str], list[str], Parameters]:
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> Parameters:
        position, moves, wanted, wrong, more = self.moves(rng)
        (home / "board.fen").write_text(f"{position}\n")
        return {"game": f"{word(rng)}.pgn", "moves": moves, "wanted": wanted, "wrong": wrong, **more}

    def check(self, p: Parameters, look: Look) -> float:
        path = look.home / p["game"]
        text = path.read_text() if path.is_file() else ""
        text = re.sub(r"\[.*?\]|\{.*?\}", " ", text, flags=re.DOTALL)
        return float([each.rstrip("+#") for each in re.findall(r"[a-hKQRBNO][-\w=+#]+", text)] == p["wanted"])

    def oracle(self, p: Parameters, computer: Any) -> None:
        wait(computer)
        for move in p["moves"]:
            drag(computer, _square(move[:2]), _square(move[2:]))
            wait(computer)
        click(computer, 100, 108)
        # Debian 13's is of Xaw, on white: its dialog comes up beside the pointer, and is accepted by its button alone.
        xaw = computer.pixels()[400, 1000].min() == 255
        press(computer, "ctrl+s")
        wait(computer, 1.0)
        write(computer, p["game"] if xaw else f"~/{p['game']}")
        wait(computer)
        if xaw:
            click(computer, 341, 496)
        else:
            press(computer, "Return")
        wait(computer)

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        (home / p["game"]).write_text(f'[Event "Edited game"]\n\n{" ".join(p["wrong"])}\n*\n')


def _square(name: str) -> tuple[int, int]:
    column, row = ord(name[0]) - ord("a"), int(name[1]) - 1
    return round(CORNER[0] + APART * column), round(CORNER[1] - APART * row)


class ChessOpening(_Chess):
    words = "Play {line}, and save the game as {game} in the home folder."

    def moves(self, rng: Random) -> tuple[str, list[str], list[str], list[str], Parameters]:
        moves, written = rng.choice(_OPENINGS)
        wanted: list[str] = written.split()
        count = rng.randrange(3, 7)
        numbered = " ".join(f"{at // 2 + 1}. {san}" if at % 2 == 0 else san for at, san in enumerate(wanted[:count]))
        return START, moves.split()[:count], wanted[:count], wanted[: count - 1], {"line": numbered}


_OPENINGS: Final = [
    ("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", "e4 e5 Nf3 Nc6 Bb5 a6"),
    ("e2e4 c7c5 g1f3 d7d6 d2d4 c5d4", "e4 c5 Nf3 d6 d4 cxd4"),
    ("d2d4 d7d5 c2c4 e7e6 b1c3 g8f6", "d4 d5 c4 e6 Nc3 Nf6"),
    ("d2d4 g8f6 c2c4 g7g6 b1c3 f8g7", "d4 Nf6 c4 g6 Nc3 Bg7"),
    ("e2e4 e7e6 d2d4 d7d5 b1c3 f8b4", "e4 e6 d4 d5 Nc3 Bb4"),
    ("c2c4 e7e5 b1c3 g8f6 g2g3 d7d5", "c4 e5 Nc3 Nf6 g3 d5"),
    ("e2e4 c7c6 d2d4 d7d5 e4d5 c6d5", "e4 c6 d4 d5 exd5 cxd5"),
]


class ChessFirstMove(_Chess):
    words = (
        "Begin with the pawn before the {piece} on the {side}, two squares forward. Save the game as {game} at home."
    )

    def moves(self, rng: Random) -> tuple[str, list[str], list[str], list[str], Parameters]:
        piece, side, column, other = rng.choice(_PIECES)
        more = {"piece": piece, "side": side}
        return START, [f"{column}2{column}4"], [f"{column}4"], [f"{other}4"], more


_PIECES: Final = [
    (piece, side, column, other)
    for piece, left, right in (("rook", "a", "h"), ("knight", "b", "g"), ("bishop", "c", "f"))
    for side, column, other in (("queen's side", left, right), ("king's side", right, left))
]


class ChessBackRank(_Chess):
    words = "White mates in one move. Play it, and save the game as {game} in the home folder."
    difficulty = 2

    def moves(self, rng: Random) -> tuple[str, list[str], list[str], list[str], Parameters]:
        at, row = rng.randrange(5), rng.randrange(1, 4)
        column = "abcde"[at]
        ranks = ["6k1", "5ppp", "8", "8", "8", "8", "5PPP", "6K1"]
        ranks[8 - row] = _with_piece(ranks[8 - row], at, "R")
        more: Parameters = {"board": ranks}
        fen = f"{'/'.join(ranks)} w - - 0 1"
        return fen, [f"{column}{row}{column}8"], [f"R{column}8"], [f"R{column}7"], more


class ChessCorner(_Chess):
    words = "White's king and rook mate in one move. Play it, and save the game as {game} in the home folder."
    difficulty = 2

    def moves(self, rng: Random) -> tuple[str, list[str], list[str], list[str], Parameters]:
        at, row = rng.randrange(3, 8), rng.randrange(1, 6)
        column = "abcdefgh"[at]
        ranks = ["k7", "8", "1K6", "8", "8", "8", "8", "8"]
        ranks[8 - row] = _with_piece(ranks[8 - row], at, "R")
        fen = f"{'/'.join(ranks)} w - - 0 1"
        more: Parameters = {"board": ranks}
        return fen, [f"{column}{row}{column}8"], [f"R{column}8"], [f"R{column}7"], more


def _with_piece(rank: str, at: int, piece: str) -> str:
    """Return a rank of a position with a piece in an empty square."""
    squares = "".join("." * int(each) if each.isdigit() else each for each in rank)
    assert squares[at] == "."
    squares = squares[:at] + piece + squares[at + 1 :]
    return re.sub(r"\.+", lambda empty: str(len(empty.group())), squares)


class ChessCastle(_Chess):
    words = (
        "Castle with white on the {side}, answer with black's pawn from {column}7 to {column}5, and save it as {game}."
    )

    def moves(self, rng: Random) -> tuple[str, list[str], list[str], list[str], Parameters]:
        (side, move, san), column = rng.choice(_CASTLES), rng.choice("abcfgh")
        wrong = "O-O" if san == "O-O-O" else "O-O-O"
        more = {"side": side, "column": column}
        reply = f"{column}7{column}5"
        return (
            "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
            [move, reply],
            [san, f"{column}5"],
            [wrong, f"{column}5"],
            more,
        )


_CASTLES: Final = [("king's side", "e1g1", "O-O"), ("queen's side", "e1c1", "O-O-O")]


class ChessTakeQueen(_Chess):
    words = "White's knight can take black's queen. Play that, and save the game as {game} in the home folder."
    split = "test"

    def moves(self, rng: Random) -> tuple[str, list[str], list[str], list[str], Parameters]:
        column, row = rng.randrange(2, 6), rng.randrange(3, 6)
        dx, dy = rng.choice([(1, 2), (-1, 2), (2, 1), (-2, 1), (2, -1), (-2, -1)])
        ranks = ["4k3", "8", "8", "8", "8", "8", "8", "4K3"]
        ranks[8 - row] = _with_piece(ranks[8 - row], column, "N")
        ranks[8 - row - dy] = _with_piece(ranks[8 - row - dy], column + dx, "q")
        target = f"{'abcdefgh'[column + dx]}{row + dy}"
        more: Parameters = {"board": ranks}
        fen = f"{'/'.join(ranks)} w - - 0 1"
        return fen, [f"{'abcdefgh'[column]}{row}{target}"], [f"Nx{target}"], [f"N{target}"], more
