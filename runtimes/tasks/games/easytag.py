"""Tasks in EasyTAG: what tags its pieces of music have when they were saved, and what these are called."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random
from typing import Any

from hands import click, press, wait, write
from pluriverse_server.kit import Look, Task
from words import NAMES, WORDS, line, word

Parameters = dict[str, Any]
Tags = dict[str, str]

# Where the fields are; a piece is chosen in the list, where Page_Up and Page_Down don't lead to others.
FIELDS = {"TITLE": (850, 295), "ARTIST": (850, 331), "ALBUM": (800, 402), "DATE": (720, 438), "COMPOSER": (850, 546)}
FIRST, APART = 188, 23

_COMMENTS = 4


class _Tagged(Task):
    """Pieces of two silent seconds: ``change`` returns their tags, the wanted and the wrong ones, and more."""

    def change(self, rng: Random, tags: dict[str, Tags]) -> tuple[dict[str, Tags], dict[str, Tags], Parameters]:
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> Parameters:
        artist, album, year = rng.choice(NAMES), line(rng, 2).title(), str(rng.randrange(1950, 2020))
        tags = {
            f"{name}.flac": {"TITLE": line(rng, 2).title(), "ARTIST": artist, "ALBUM": album, "DATE": year}
            for name in sorted(rng.sample(WORDS, 4))
        }
        (home / "Music").mkdir()
        wanted, wrong, more = self.change(rng, tags)
        _write(home, tags)
        return {"wanted": wanted, "wrong": wrong, "names": list(tags), **more}

    def check(self, p: Parameters, look: Look) -> float:
        return float({path.name: _read(path) for path in (look.home / "Music").iterdir()} == p["wanted"])

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        _write(home, p["wrong"])


def _write(home: Path, tags: dict[str, Tags]) -> None:
    for old in (home / "Music").iterdir():
        old.unlink()
    sound = (Path(__file__).parent / "silence.flac").read_bytes()
    blocks, rest = _blocks(sound)
    for name, pairs in tags.items():
        texts = [f"{key}={value}".encode() for key, value in pairs.items()]
        body = struct.pack("<II", 0, len(texts)) + b"".join(struct.pack("<I", len(text)) + text for text in texts)
        kept = [(kind, block) for kind, block in blocks if kind not in (1, _COMMENTS)] + [(_COMMENTS, body)]
        headers = b"".join(
            bytes([kind | (128 if at == len(kept) - 1 else 0)]) + len(block).to_bytes(3, "big") + block
            for at, (kind, block) in enumerate(kept)
        )
        (home / "Music" / name).write_bytes(b"fLaC" + headers + sound[rest:])


def _blocks(sound: bytes) -> tuple[list[tuple[int, bytes]], int]:
    """Return the blocks before a FLAC file's frames, each with its kind, and where the frames begin."""
    found: list[tuple[int, bytes]] = []
    at, last = 4, False
    while not last and at + 4 <= len(sound):
        kind, size = sound[at], int.from_bytes(sound[at + 1 : at + 4], "big")
        last = kind >= 128
        found.append((kind & 127, sound[at + 4 : at + 4 + size]))
        at += 4 + size
    return found, at


def _read(path: Path) -> Tags:
    block = next((block for kind, block in _blocks(path.read_bytes())[0] if kind == _COMMENTS), b"")
    tags: Tags = {}
    try:
        at = 8 + struct.unpack_from("<I", block, 0)[0]
        while at < len(block):
            size = struct.unpack_from("<I", block, at)[0]
            key, _, value = block[at + 4 : at + 4 + size].decode().partition("=")
            tags[key.upper()] = value
            at += 4 + size
    except (struct.error, UnicodeDecodeError):
        return {}
    return tags


def _click(computer: Any, x: int, y: int) -> None:
    """Debian 13's icons are less high: there the line below the chosen tab, and all else, is 24 pixels higher."""
    higher = tuple(computer.pixels()[250, 800]) == (0x35, 0x84, 0xE4)
    click(computer, x, y - 24 * higher)


def _choose(computer: Any, p: Parameters, name: str) -> None:
    wait(computer, 1.0)
    _click(computer, 360, FIRST + APART * p["names"].index(name))
    wait(computer)


def _fill(computer: Any, field: str, text: str) -> None:
    _click(computer, *FIELDS[field])
    press(computer, "End", "shift+Home")
    write(computer, text)


def _save(computer: Any) -> None:
    press(computer, "ctrl+s")
    wait(computer, 1.0)


def _with(tags: dict[str, Tags], name: str, **pairs: str) -> dict[str, Tags]:
    return {**tags, name: {**tags[name], **pairs}}


class MusicTitle(_Tagged):
    words = "Give the piece {name} the title {title}, and save its tags."

    def change(self, rng: Random, tags: dict[str, Tags]) -> tuple[dict[str, Tags], dict[str, Tags], Parameters]:
        name, other = rng.sample(list(tags), 2)
        title = line(rng, 2).title()
        return _with(tags, name, TITLE=title), _with(tags, other, TITLE=title), {"name": name, "title": title}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _choose(computer, p, p["name"])
        _fill(computer, "TITLE", p["title"])
        _save(computer)


class MusicYear(_Tagged):
    words = "The piece {name} is of {year}. Correct its year, and save its tags."

    def change(self, rng: Random, tags: dict[str, Tags]) -> tuple[dict[str, Tags], dict[str, Tags], Parameters]:
        name, year = rng.choice(list(tags)), rng.randrange(2020, 2025)
        return _with(tags, name, DATE=str(year)), _with(tags, name, DATE=str(year + 1)), {"name": name, "year": year}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _choose(computer, p, p["name"])
        _fill(computer, "DATE", str(p["year"]))
        _save(computer)


class MusicArtistAndAlbum(_Tagged):
    words = "The piece {name} is by {artist}, of the album {album}. Correct both, and save its tags."

    def change(self, rng: Random, tags: dict[str, Tags]) -> tuple[dict[str, Tags], dict[str, Tags], Parameters]:
        name, artist, album = rng.choice(list(tags)), " ".join(rng.sample(NAMES, 2)), line(rng, 3).title()
        wanted, wrong = _with(tags, name, ARTIST=artist, ALBUM=album), _with(tags, name, ARTIST=album, ALBUM=artist)
        return wanted, wrong, {"name": name, "artist": artist, "album": album}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _choose(computer, p, p["name"])
        _fill(computer, "ARTIST", p["artist"])
        _fill(computer, "ALBUM", p["album"])
        _save(computer)


class MusicRename(_Tagged):
    words = "Rename the file {name} to {new}, by EasyTAG. Its tags stay as they are."

    def change(self, rng: Random, tags: dict[str, Tags]) -> tuple[dict[str, Tags], dict[str, Tags], Parameters]:
        name, other = rng.sample(list(tags), 2)
        new = f"{word(rng)}{rng.randrange(10, 100)}.flac"
        wanted, wrong = ({(new if each == old else each): tags[each] for each in tags} for old in (name, other))
        return wanted, wrong, {"name": name, "new": new}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _choose(computer, p, p["name"])
        _click(computer, 800, 156)
        press(computer, "End", "shift+Home")
        write(computer, p["new"].removesuffix(".flac"))
        _save(computer)


class MusicComposer(_Tagged):
    words = "Note in the tags of the piece with the title {title} that its composer is {composer}, and save them."
    difficulty = 2

    def change(self, rng: Random, tags: dict[str, Tags]) -> tuple[dict[str, Tags], dict[str, Tags], Parameters]:
        name, composer = rng.choice(list(tags)), " ".join(rng.sample(NAMES, 2))
        wanted, wrong = _with(tags, name, COMPOSER=composer), _with(tags, name, ARTIST=composer)
        return wanted, wrong, {"title": tags[name]["TITLE"], "name": name, "composer": composer}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _choose(computer, p, p["name"])
        _fill(computer, "COMPOSER", p["composer"])
        _save(computer)


class MusicSwapTitles(_Tagged):
    words = "The titles of {one} and {other} are the wrong way round: let them change places, and save the tags."
    split = "test"
    difficulty = 2

    def change(self, rng: Random, tags: dict[str, Tags]) -> tuple[dict[str, Tags], dict[str, Tags], Parameters]:
        one, other = rng.sample(list(tags), 2)
        first, second = tags[one]["TITLE"], tags[other]["TITLE"]
        wrong = _with(tags, one, TITLE=second)
        more = {"one": one, "other": other, "first": first, "second": second}
        return _with(wrong, other, TITLE=first), wrong, more

    def oracle(self, p: Parameters, computer: Any) -> None:
        for name, title in ((p["one"], p["second"]), (p["other"], p["first"])):
            _choose(computer, p, name)
            _fill(computer, "TITLE", title)
            _save(computer)
