"""Tasks in a terminal, for bash and Debian's usual programs: what is in HOME afterwards."""

from __future__ import annotations

import tarfile
from pathlib import Path
from random import Random
from typing import Any

from edits import has, joined
from hands import wait, write
from pluriverse_server.kit import Look, Task
from words import GOODS, file, line, lines, word

Parameters = dict[str, Any]


class _Shell(Task):
    def command(self, p: Parameters) -> str:
        raise NotImplementedError

    def oracle(self, p: Parameters, computer: Any) -> None:
        write(computer, f"{self.command(p)}\n")
        wait(computer)


def _files(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


class TerminalMakeFolders(_Shell):
    words = "Make the folder {one}, in it the folder {two}, and in that one the folder {three}."

    def setup(self, rng: Random, home: Path) -> Parameters:
        return dict(zip(("one", "two", "three"), line(rng, 3).split(), strict=True))

    def check(self, p: Parameters, look: Look) -> float:
        return float((look.home / p["one"] / p["two"] / p["three"]).is_dir())

    def command(self, p: Parameters) -> str:
        return f"mkdir -p {p['one']}/{p['two']}/{p['three']}"

    def trap_beside(self, p: Parameters, home: Path) -> None:
        for name in ("one", "two", "three"):
            (home / p[name]).mkdir()


class TerminalCountLines(_Shell):
    words = "Write into {out} how many lines of {file} have the word {word} in them, as a number alone."

    def setup(self, rng: Random, home: Path) -> Parameters:
        name, wanted = file(rng, "log"), rng.randrange(20, 60)
        sought, *others = line(rng, 9).split()
        text = [f"{sought} {sought}" if at < wanted else " ".join(rng.sample(others, 3)) for at in range(3 * wanted)]
        rng.shuffle(text)
        (home / name).write_text(joined(text))
        return {"file": name, "word": sought, "out": f"{word(rng)}.count", "wanted": wanted}

    def check(self, p: Parameters, look: Look) -> float:
        return float(has(look.home / p["out"], str(p["wanted"])))

    def command(self, p: Parameters) -> str:
        return f"grep -c {p['word']} {p['file']} > {p['out']}"

    def trap_words(self, p: Parameters, home: Path) -> None:
        (home / p["out"]).write_text(f"{2 * p['wanted']}\n")


class TerminalRenameAll(_Shell):
    words = "Give all files in {folder} that end in .{old} the ending .{new} instead. Leave the others alone."
    difficulty = 2

    def setup(self, rng: Random, home: Path) -> Parameters:
        old, new, other = rng.sample(["txt", "md", "log", "bak", "csv", "org"], 3)
        stems = rng.sample(range(100, 1000), 8)
        folder = word(rng)
        names = [f"part{stem}.{old if at < 5 else other}" for at, stem in enumerate(stems)]
        _files(home / folder, {name: f"{name}\n" for name in names})
        return {"folder": folder, "old": old, "new": new, "names": names}

    def check(self, p: Parameters, look: Look) -> float:
        wanted = {name.replace(f".{p['old']}", f".{p['new']}"): name for name in p["names"]}
        there = {path.name: path.read_text().strip() for path in (look.home / p["folder"]).iterdir() if path.is_file()}
        return float(there == wanted)

    def command(self, p: Parameters) -> str:
        return f'cd {p["folder"]}; for f in *.{p["old"]}; do mv "$f" "${{f%.*}}.{p["new"]}"; done'

    def trap_all(self, p: Parameters, home: Path) -> None:
        for path in (home / p["folder"]).iterdir():
            path.rename(path.with_suffix(f".{p['new']}"))


class TerminalFindFile(_Shell):
    words = "One file below {folder} has the word {word} in it. Copy that file to found.txt in the home folder."
    difficulty = 2

    def setup(self, rng: Random, home: Path) -> Parameters:
        folder, sought, *others = line(rng, 12).split()
        names = [f"{rng.choice(others)}/{rng.choice(others)}{at}.txt" for at in range(12)]
        texts = {name: f"{' '.join(rng.sample(others, 6))}\n" for name in names}
        texts[names[5]] = f"{' '.join(rng.sample(others, 3))} {sought}\n"
        _files(home / folder, texts)
        return {"folder": folder, "word": sought, "wanted": texts[names[5]], "wrong": texts[names[4]]}

    def check(self, p: Parameters, look: Look) -> float:
        return float(has(look.home / "found.txt", p["wanted"]))

    def command(self, p: Parameters) -> str:
        return f"cp $(grep -rl {p['word']} {p['folder']}) found.txt"

    def trap_another(self, p: Parameters, home: Path) -> None:
        (home / "found.txt").write_text(p["wrong"])


class TerminalMode(_Shell):
    words = "Let {file} be readable and writable by its owner, readable by its group, and neither by others."

    def setup(self, rng: Random, home: Path) -> Parameters:
        name = file(rng, "key")
        (home / name).write_text(f"{line(rng)}\n")
        (home / name).chmod(0o644)
        return {"file": name}

    def check(self, p: Parameters, look: Look) -> float:
        return float((look.home / p["file"]).stat().st_mode & 0o777 == 0o640)

    def command(self, p: Parameters) -> str:
        return f"chmod 640 {p['file']}"

    def trap_executable(self, p: Parameters, home: Path) -> None:
        (home / p["file"]).chmod(0o750)


class TerminalRunScript(_Shell):
    words = "Let bash run the script {script}. It asks for a name: answer {name}."

    def setup(self, rng: Random, home: Path) -> Parameters:
        script, out, secret = f"{word(rng)}.sh", f"{word(rng)}.out", rng.randrange(10_000)
        text = f'read -p "Name? " name\necho "$name {secret}" > {out}\n'
        (home / script).write_text(text)
        return {"script": script, "name": word(rng).title(), "out": out, "secret": secret}

    def check(self, p: Parameters, look: Look) -> float:
        return float(has(look.home / p["out"], f"{p['name']} {p['secret']}"))

    def command(self, p: Parameters) -> str:
        return f"bash {p['script']}\n{p['name']}"

    def trap_not_run(self, p: Parameters, home: Path) -> None:
        (home / p["out"]).write_text(f"{p['name']}\n")


class TerminalPack(_Shell):
    words = "Pack the folder {folder} into the archive {folder}.tar.gz, compressed by gzip, in the home folder."

    def setup(self, rng: Random, home: Path) -> Parameters:
        folder = word(rng)
        texts = {f"{folder}/{file(rng)}": f"{line(rng)}\n" for _ in range(5)}
        _files(home, texts)
        return {"folder": folder, "texts": texts}

    def check(self, p: Parameters, look: Look) -> float:
        path = look.home / f"{p['folder']}.tar.gz"
        try:
            with tarfile.open(path, "r:gz") as archive:
                names = {member.name.removeprefix("./"): member for member in archive if member.isfile()}
                members = {name: archive.extractfile(member) for name, member in names.items()}
                return float(p["texts"] == {name: file.read().decode() for name, file in members.items() if file})
        except (OSError, tarfile.TarError):
            return 0.0

    def command(self, p: Parameters) -> str:
        return f"tar czf {p['folder']}.tar.gz {p['folder']}"

    def trap_not_compressed(self, p: Parameters, home: Path) -> None:
        with tarfile.open(home / f"{p['folder']}.tar.gz", "w") as archive:
            archive.add(home / p["folder"], p["folder"])


class TerminalSortUnique(_Shell):
    words = "Write the lines of {file} into {out}, sorted alphabetically, each once."
    split = "test"

    def setup(self, rng: Random, home: Path) -> Parameters:
        wanted = sorted(lines(rng, 12, 2))
        text = [*wanted, *rng.choices(wanted, k=20)]
        rng.shuffle(text)
        name = file(rng)
        (home / name).write_text(joined(text))
        return {"file": name, "out": f"{word(rng)}.sorted", "wanted": wanted, "twice": sorted(text)}

    def check(self, p: Parameters, look: Look) -> float:
        return float(has(look.home / p["out"], joined(p["wanted"])))

    def command(self, p: Parameters) -> str:
        return f"sort -u {p['file']} > {p['out']}"

    def trap_twice(self, p: Parameters, home: Path) -> None:
        (home / p["out"]).write_text(joined(p["twice"]))


class TerminalDeleteEmpty(_Shell):
    words = "Delete all empty files below {folder}, and nothing else."

    def setup(self, rng: Random, home: Path) -> Parameters:
        folder = word(rng)
        names = [f"{word(rng)}/{word(rng)}{at}.txt" for at in range(10)]
        _files(home / folder, {name: "" if at < 4 else f"{line(rng)}\n" for at, name in enumerate(names)})
        return {"folder": folder, "names": names}

    def check(self, p: Parameters, look: Look) -> float:
        return float([(look.home / p["folder"] / name).exists() for name in p["names"]] == [False] * 4 + [True] * 6)

    def command(self, p: Parameters) -> str:
        return f"find {p['folder']} -type f -empty -delete"

    def trap_three(self, p: Parameters, home: Path) -> None:
        for name in p["names"][1:4]:
            (home / p["folder"] / name).unlink()


class TerminalLink(_Shell):
    words = "Make a symbolic link {link} in the home folder that leads to {file}."
    split = "test"

    def setup(self, rng: Random, home: Path) -> Parameters:
        name = f"{word(rng)}/{file(rng)}"
        _files(home, {name: f"{line(rng)}\n"})
        return {"file": name, "link": f"{word(rng)}-link"}

    def check(self, p: Parameters, look: Look) -> float:
        link = look.home / p["link"]
        return float(link.is_symlink() and (look.home / p["file"]).samefile(look.home / link.readlink()))

    def command(self, p: Parameters) -> str:
        return f"ln -s {p['file']} {p['link']}"

    def trap_copied(self, p: Parameters, home: Path) -> None:
        (home / p["link"]).write_bytes((home / p["file"]).read_bytes())


class TerminalMoveLargest(_Shell):
    words = "Move the largest file of {folder} to the folder {to}."
    split = "test"
    difficulty = 2

    def setup(self, rng: Random, home: Path) -> Parameters:
        folder, to, *names = line(rng, 8).split()
        sizes = rng.sample(range(100, 5000), 6)
        _files(home / folder, {name: "x" * size for name, size in zip(names, sizes, strict=True)})
        (home / to).mkdir()
        ordered = [name for _, name in sorted(zip(sizes, names, strict=True))]
        return {"folder": folder, "to": to, "ordered": ordered}

    def check(self, p: Parameters, look: Look) -> float:
        moved, left = ([path.name for path in (look.home / p[folder]).iterdir()] for folder in ("to", "folder"))
        return float(moved == p["ordered"][-1:] and sorted(left) == sorted(p["ordered"][:-1]))

    def command(self, p: Parameters) -> str:
        return f"mv {p['folder']}/$(ls -S {p['folder']} | head -1) {p['to']}"

    def trap_second(self, p: Parameters, home: Path) -> None:
        name = p["ordered"][-2]
        (home / p["folder"] / name).rename(home / p["to"] / name)


class TerminalSumColumn(_Shell):
    words = "Write into {out} the sum of the second column of {file}, as a number alone."
    difficulty = 2

    def setup(self, rng: Random, home: Path) -> Parameters:
        seconds, thirds = ([rng.randrange(1, 90) for _ in range(15)] for _ in range(2))
        name = file(rng, "csv")
        (home / name).write_text(
            joined([f"{rng.choice(GOODS)},{at},{other}" for at, other in zip(seconds, thirds, strict=True)])
        )
        wanted, wrong = sum(seconds), sum(thirds)
        return {"file": name, "out": f"{word(rng)}.sum", "wanted": wanted, "wrong": wrong + (wanted == wrong)}

    def check(self, p: Parameters, look: Look) -> float:
        return float(has(look.home / p["out"], str(p["wanted"])))

    def command(self, p: Parameters) -> str:
        return f"awk -F, '{{s+=$2}} END {{print s}}' {p['file']} > {p['out']}"

    def trap_third(self, p: Parameters, home: Path) -> None:
        (home / p["out"]).write_text(f"{p['wrong']}\n")


class TerminalReplaceInAll(_Shell):
    words = "Replace {old} by {new} in all files of {folder}."
    difficulty = 2

    def setup(self, rng: Random, home: Path) -> Parameters:
        folder, old, new, *others = line(rng, 10).split()
        texts = {f"{other}.cfg": f"{old} = {rng.choice(others)}\n{other} = {old}\n" for other in others[:5]}
        _files(home / folder, texts)
        return {"folder": folder, "old": old, "new": new, "texts": texts}

    def check(self, p: Parameters, look: Look) -> float:
        wanted = {name: text.replace(p["old"], p["new"]) for name, text in p["texts"].items()}
        return float(all(has(look.home / p["folder"] / name, text) for name, text in wanted.items()))

    def command(self, p: Parameters) -> str:
        return f"sed -i s/{p['old']}/{p['new']}/g {p['folder']}/*"

    def trap_first_only(self, p: Parameters, home: Path) -> None:
        name, text = next(iter(p["texts"].items()))
        (home / p["folder"] / name).write_text(text.replace(p["old"], p["new"]))


class TerminalVariable(_Shell):
    words = "Let bash set and export the variable {name} to {value} each time that it starts, by a line in .bashrc."

    def setup(self, rng: Random, home: Path) -> Parameters:
        (home / ".bashrc").write_text("PS1='$ '\n")
        return {"name": word(rng).upper(), "value": rng.randrange(100, 1000)}

    def check(self, p: Parameters, look: Look) -> float:
        text = (look.home / ".bashrc").read_text().splitlines()
        exports = {f"export {p['name']}={mark}{p['value']}{mark}" for mark in ("", '"', "'")}
        return float(any(each.strip() in exports for each in text) and "PS1='$ '" in text)

    def command(self, p: Parameters) -> str:
        return f"echo export {p['name']}={p['value']} >> .bashrc"

    def trap_not_exported(self, p: Parameters, home: Path) -> None:
        with (home / ".bashrc").open("a") as rc:
            rc.write(f"{p['name']}={p['value']}\n")
