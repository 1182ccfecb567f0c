"""A runtime for tests whose tasks are to type a word into a tiny X program, which writes it to a file."""

from pathlib import Path

from support.scraped import DRAWS

PROGRAM = (
    DRAWS
    + """
from pathlib import Path

home = Path(os.environ["HOME"])
window.map()
display.sync()
while True:
    event = display.next_event()
    if event.type == X.Expose:
        fill(0, 0, 10 * len((home / "level").read_text()) if (home / "level").exists() else 320, 20, 0xFFFFFF)
        display.flush()
    if event.type == X.KeyPress:
        letter = chr(display.keycode_to_keysym(event.detail, 0))
        with (home / "typed").open("a") as typed:
            typed.write(letter if letter in "abcdef" else "")
"""
)

TASKS = """
from pathlib import Path

from pluriverse_server.kit import Task


class TypeWord(Task):
    words = "Type {word}."
    seconds = 20

    def setup(self, rng, home):
        (home / "level").write_text("x" * rng.randrange(1, 32))
        (home / "typed").write_text("")
        level = len((home / "level").read_text())
        return {"word": "".join(rng.choices("abcdef", k=6)), "level": level, "secret": "rhubarb", "verbs": ["Type"]}

    def check(self, p, look):
        return float((look.home / "typed").read_text() == p["word"])

    def oracle(self, p, computer):
        from pluriverse.adapters.computer import Type

        computer.do(Type(p["word"]))

    def trap_backwards(self, p, home):
        (home / "typed").write_text(p["word"][::-1])

    def trap_half(self, p, computer):
        self.oracle({"word": p["word"][:3]}, computer)


class TypeAsItChanges(TypeWord):
    grade = "change"

    def check(self, p, look):
        return len((look.home / "typed").read_text()) / 6


class TypeInTime(TypeWord):
    grade = "end"
    seconds = 5

    def check(self, p, look):
        shown = look.picture[10, :, 0].argmin()
        return TypeWord.check(self, p, look) if shown == 10 * p["level"] else 0
"""


def write_tasks(
    directory: Path, tasks: str = TASKS, *, program: str = 'clock = ["realtime", "lockstep"]', default: str = "TypeWord"
) -> Path:
    """Write the runtime ``typing`` into ``directory``, with these lines of [program], and return it."""
    (directory / "games").mkdir(parents=True)
    (directory / "program.py").write_text(PROGRAM)
    (directory / "games" / "typing.py").write_text(tasks)
    (directory / "games" / "typing.toml").write_text(
        f'tasks = "typing.py"\n[program]\ncommand = ["python", "program.py"]\nready = {{ timeout_s = 60 }}\n{program}\n'
    )
    (directory / "runtime.toml").write_text(
        'games = "games"\n[runtime]\nid = "typing"\nversion = "0.1.0"\ntitle = "Typing"\nfps = 30\n'
        f'default_env = "typing.{default}-v0"\nscreen = {{ width = 320, height = 200 }}\n'
    )
    return directory
