"""Tasks in PCManFM, a file manager: where the files of HOME are afterwards, and what is in them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from hands import press, wait, write
from pluriverse_server.kit import Look, Task
from words import file, line, word

Parameters = dict[str, Any]
Files = dict[str, str]
"""The texts of files by their paths below HOME; a path that ends in a slash is an empty folder."""


class _Files(Task):
    """Files are moved about: ``change`` returns what is there, what is wanted, what is wrong, and more parameters."""

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> Parameters:
        before, wanted, wrong, more = self.change(rng)
        _make(home, before)
        return {"wanted": wanted, "wrong": wrong, **more}

    def check(self, p: Parameters, look: Look) -> float:
        return float(_seen(look.home) == p["wanted"])

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        for path in sorted(home.rglob("*"), reverse=True):
            if not path.relative_to(home).parts[0].startswith("."):
                path.rmdir() if path.is_dir() else path.unlink()
        _make(home, p["wrong"])


def _make(home: Path, files: Files) -> None:
    for name, text in files.items():
        folder = home / (name if name.endswith("/") else Path(name).parent)
        folder.mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            (home / name).write_text(text)


def _seen(home: Path) -> Files:
    found: Files = {}
    for path in home.rglob("*"):
        name = str(path.relative_to(home))
        if name.startswith(".") and not name.startswith(".note"):
            continue
        if path.is_file():
            found[name] = path.read_text()
        elif not any(path.iterdir()):
            found[f"{name}/"] = ""
    return found


def _some(rng: Random, count: int = 5, ending: str = "txt") -> Files:
    return {f"{name}.{ending}": f"{line(rng)}\n" for name in rng.sample(line(rng, 12).split(), count)}


def _moved(files: Files, old: str, new: str) -> Files:
    return {(new if name == old else name): text for name, text in files.items()}


def _below(folder: str, files: Files) -> Files:
    return {f"{folder}/{name}": text for name, text in files.items()}


def _select(computer: Any, name: str) -> None:
    """What is typed selects the file of that name."""
    write(computer, name)
    wait(computer, 0.3)
    press(computer, "Escape")


def _open(computer: Any, name: str) -> None:
    _select(computer, name)
    press(computer, "Return")
    wait(computer)


def _rename(computer: Any, old: str, new: str) -> None:
    _select(computer, old)
    press(computer, "F2")
    _answer(computer, new)


def _answer(computer: Any, text: str) -> None:
    """Answer a dialog that asks for a name."""
    wait(computer)
    press(computer, "ctrl+a")
    write(computer, f"{text}\n")
    wait(computer)


def _carry(computer: Any, key: str, name: str, folder: str) -> None:
    """Cut or copy a file, and paste it into a folder beside it."""
    _select(computer, name)
    press(computer, key)
    _open(computer, folder)
    press(computer, "ctrl+v")
    wait(computer)


class FilesRename(_Files):
    words = "Rename the file {old} to {new}."

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        files = _some(rng)
        old, other = rng.sample(list(files), 2)
        new = f"new-{file(rng)}"
        return files, _moved(files, old, new), _moved(files, other, new), {"old": old, "new": new}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _rename(computer, p["old"], p["new"])


class FilesMakeFolder(_Files):
    words = "Make a folder {new} in the folder {folder}."

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        folder, new = word(rng), f"{word(rng)}-{rng.randrange(100)}"
        files = _some(rng) | _below(folder, _some(rng, 3))
        wanted, wrong = files | {f"{folder}/{new}/": ""}, files | {f"{new}/": ""}
        return files, wanted, wrong, {"folder": folder, "new": new}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _open(computer, p["folder"])
        press(computer, "ctrl+shift+n")
        _answer(computer, p["new"])


class FilesMove(_Files):
    words = "Move {name} into the folder {folder}."

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        files, folder = _some(rng), f"to-{word(rng)}"
        name = rng.choice(list(files))
        wanted = _moved(files, name, f"{folder}/{name}")
        return files | {f"{folder}/": ""}, wanted, files | wanted, {"name": name, "folder": folder}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _carry(computer, "ctrl+x", p["name"], p["folder"])


class FilesCopy(_Files):
    words = "Copy {name} into the folder {folder}."

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        files, folder = _some(rng), f"to-{word(rng)}"
        name = rng.choice(list(files))
        wrong = _moved(files, name, f"{folder}/{name}")
        return files | {f"{folder}/": ""}, files | wrong, wrong, {"name": name, "folder": folder}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _carry(computer, "ctrl+c", p["name"], p["folder"])


class FilesCopyAs(_Files):
    words = "Copy {name} into the folder {folder}, and call the copy {new}."
    split = "test"
    difficulty = 2

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        files, folder, new = _some(rng), f"to-{word(rng)}", file(rng)
        name = rng.choice(list(files))
        wanted, wrong = files | {f"{folder}/{new}": files[name]}, files | {f"{folder}/{name}": files[name]}
        return files | {f"{folder}/": ""}, wanted, wrong, {"name": name, "folder": folder, "new": new}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _carry(computer, "ctrl+c", p["name"], p["folder"])
        _rename(computer, p["name"], p["new"])


class FilesDelete(_Files):
    words = "Delete {name} for good, and nothing else."

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        files = _some(rng, 6)
        name, other = rng.sample(list(files), 2)
        wanted, wrong = ({each: files[each] for each in files if each != gone} for gone in (name, other))
        return files, wanted, wrong, {"name": name}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _select(computer, p["name"])
        press(computer, "shift+Delete")
        wait(computer)
        press(computer, "Return")
        wait(computer)


class FilesSwapNames(_Files):
    words = "Let the files {one} and {other} exchange their names."
    difficulty = 2

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        files = _some(rng)
        one, other = rng.sample(list(files), 2)
        wanted = files | {one: files[other], other: files[one]}
        return files, wanted, files | {one: files[other]}, {"one": one, "other": other}

    def oracle(self, p: Parameters, computer: Any) -> None:
        for old, new in ((p["one"], "zzz"), (p["other"], p["one"]), ("zzz", p["other"])):
            _rename(computer, old, new)


class FilesMoveAll(_Files):
    words = "Move all files of the folder {source} into the folder {folder}."

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        files, source, folder = _some(rng), f"from-{word(rng)}", f"to-{word(rng)}"
        there, moved = _below(source, files), _below(folder, files)
        last = list(files)[-1]
        wrong = _moved(moved, f"{folder}/{last}", f"{source}/{last}")
        more = {"source": source, "folder": folder}
        return there | {f"{folder}/": ""}, moved | {f"{source}/": ""}, wrong, more

    def oracle(self, p: Parameters, computer: Any) -> None:
        _open(computer, p["source"])
        press(computer, "ctrl+a", "ctrl+x", "alt+Up")
        wait(computer)
        _open(computer, p["folder"])
        press(computer, "ctrl+v")
        wait(computer)


class FilesRenameDeep(_Files):
    words = "Rename the file {path} to {new}; it stays in its folder."

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        folders = line(rng, 3).split()
        path, new = f"{'/'.join(folders)}/{file(rng)}", f"new-{file(rng)}"
        files = _some(rng) | {path: line(rng), f"{folders[0]}/{file(rng)}": line(rng)}
        wanted, wrong = _moved(files, path, f"{'/'.join(folders)}/{new}"), _moved(files, path, f"{folders[0]}/{new}")
        return files, wanted, wrong, {"path": path, "new": new}

    def oracle(self, p: Parameters, computer: Any) -> None:
        *folders, name = p["path"].split("/")
        for folder in folders:
            _open(computer, folder)
        _rename(computer, name, p["new"])


class FilesHidden(_Files):
    words = "There is a hidden file, {old}. Rename it to {new}, so that it is shown."
    split = "test"

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        old, new = f".note{rng.randrange(100)}", file(rng)
        text = line(rng)
        files = _some(rng)
        more = {"old": old, "new": new}
        return files | {old: text}, files | {new: text}, files | {old: text, new: text}, more

    def oracle(self, p: Parameters, computer: Any) -> None:
        press(computer, "ctrl+h")
        wait(computer)
        _rename(computer, p["old"], p["new"])


class FilesRenameFolder(_Files):
    words = "Rename the folder {old} to {new}, with all that is in it."
    split = "test"

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        old, new = f"old-{word(rng)}", f"new-{word(rng)}"
        inside, files = _some(rng, 3), _some(rng, 3)
        wanted = files | _below(new, inside)
        return files | _below(old, inside), wanted, wanted | _below(old, inside), {"old": old, "new": new}

    def oracle(self, p: Parameters, computer: Any) -> None:
        _rename(computer, p["old"], p["new"])


class FilesSortOut(_Files):
    words = "Move the file whose name ends in .{ending} into the folder {folder}, and delete for good the empty folder."
    difficulty = 2

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        ending, folder, empty = rng.choice(("csv", "md", "log")), f"a-{word(rng)}", f"b-{word(rng)}"
        files, (name, text) = _some(rng), next(iter(_some(rng, 1, ending).items()))
        kept = files | {f"{folder}/{file(rng)}": line(rng)}
        wanted = kept | {f"{folder}/{name}": text}
        more = {"ending": ending, "folder": folder, "empty": empty, "name": name}
        return kept | {name: text, f"{empty}/": ""}, wanted, wanted | {f"{empty}/": ""}, more

    def oracle(self, p: Parameters, computer: Any) -> None:
        _select(computer, p["empty"])
        press(computer, "shift+Delete")
        wait(computer)
        press(computer, "Return")
        wait(computer)
        _carry(computer, "ctrl+x", p["name"], p["folder"])


class FilesBookmark(_Files):
    words = "Add a bookmark for the folder {folder}; its name is {folder}, too."

    def change(self, rng: Random) -> tuple[Files, Files, Files, Parameters]:
        folder, other = (f"{letter}-{word(rng)}" for letter in "ab")
        files = {f"{folder}/{file(rng)}": line(rng), f"{other}/{file(rng)}": line(rng)}
        return files, files, files, {"folder": folder, "other": other}

    def check(self, p: Parameters, look: Look) -> float:
        return float(
            [each.split("/")[-1] for each in _bookmarks(look.home)]
            in ([p["folder"]], [p["folder"] + " " + p["folder"]])
        )

    def oracle(self, p: Parameters, computer: Any) -> None:
        _open(computer, p["folder"])
        press(computer, "alt+b", "Down", "Return")
        wait(computer)
        press(computer, "Return")
        wait(computer)

    def trap_other(self, p: Parameters, home: Path) -> None:
        (home / ".gtk-bookmarks").write_text(f"file:///home/{p['other']} {p['folder']}\n")


def _bookmarks(home: Path) -> list[str]:
    paths = home / ".gtk-bookmarks", home / ".config/gtk-3.0/bookmarks"
    return [each for path in paths if path.is_file() for each in path.read_text().splitlines()]
