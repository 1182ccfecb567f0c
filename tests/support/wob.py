"""World of Bits for tests: the runtime, told to say what is on its page as well, and a player with VNC's hands."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from support.pages import PageRemote
from support.rfb import RfbClient
from support.served import PASSWORD

RUNTIME: Final = Path(__file__).parents[2] / "runtimes" / "world-of-bits"

# What a player goes by: where the page last saw the pointer, and each thing that isn't hidden, in the document's order;
# pictures that are still on their way have no size. A thing's text is its own, without that of the things in it.
LOOK_JS: Final = """
{
  let pointer = [-1, -1];
  addEventListener("mousemove", (event) => { pointer = [event.clientX, event.clientY]; }, true);
  const seen = (element) => {
    const box = element.getBoundingClientRect();
    if (!element.checkVisibility({ visibilityProperty: true })) return [];
    const at = [box.x, box.y, box.width, box.height].map(Math.round);
    const text = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data);
    const attributes = Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value]));
    const state = [element.value ?? null, element.checked ?? null, element.scrollTop];
    return [[element.tagName.toLowerCase(), text.join(" ").replace(/\\s+/g, " ").trim(), at, attributes, ...state]];
  };
  const all = "#wrap, #wrap *, body > :not(#wrap) *";
  wob.look = () => ({ pointer, things: [...document.querySelectorAll(all)].flatMap(seen) });
}
"""

# Episodes of this seed are over by their own clock after so long.
HASTY_SEED: Final = 9
HASTY_MS: Final = 300

# VNC's button masks, and X's names for keys.
LEFT: Final = 1
KEYS: Final = {"\r": 0xFF0D, "\t": 0xFF09}
SHIFT: Final = 0xFFE1

# What needs Shift on the keyboard that the X servers start with; viewers send what their person's keyboard sends.
SHIFTED: Final = frozenset('~!@#$%^&*()_+{}|:"<>?')

# Where the task is on the screen, and where the instruction above it ends.
TASK: Final = (10, 75, 160, 210)
INSTRUCTION_BOTTOM: Final = TASK[1] + 50

# Widgets that are used again have their classes in another order; miniwob notes for itself what was clicked.
UNSEEN: Final = {"class", "data-tampered"}

Place = tuple[float, float]


def copy_runtime(directory: Path) -> Path:
    """The runtime, in ``directory``, with observations, and a seed that makes tasks short."""
    manifest = (RUNTIME / "runtime.toml").read_text()
    hasty = f"pluriverse.seed === {HASTY_SEED} && (core.EPISODE_MAX_TIME = {HASTY_MS})"
    own = 'begin = "wob.begin(pluriverse)"'
    assert own in manifest
    (directory / "runtime.toml").write_text(
        manifest.replace(own, f'begin = "({hasty}, wob.begin(pluriverse))"\nobservation = "wob.look()"')
    )
    (directory / "before.js").write_text((RUNTIME / "before.js").read_text() + "if (window === window.top) " + LOOK_JS)
    for name in ("catalogue.py", "tasks.toml", "vendor"):
        (directory / name).symlink_to(RUNTIME / name)
    return directory


@dataclass(frozen=True)
class Thing:
    """Something on the page; a field's ``value``, whether a box is ``checked``, pixels out of sight above."""

    tag: str
    text: str
    x: int
    y: int
    width: int
    height: int
    attributes: dict[str, str] = field(hash=False)
    value: Any = None
    checked: Any = None
    above: float = 0

    @property
    def middle(self) -> Place:
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def id(self) -> str:
        """Its id, "" if it has none."""
        return self.attributes.get("id", "")

    @property
    def marks(self) -> dict[str, str]:
        """Its attributes, but for those that nobody sees anything of."""
        return {name: value for name, value in self.attributes.items() if name not in UNSEEN}

    def has_class(self, name: str) -> bool:
        return name in self.attributes.get("class", "").split()


class Player:
    """Plays one task after the other: looks by observations, acts by VNC."""

    def __init__(self, remote: PageRemote) -> None:
        self.text = ""
        self.things: list[Thing] = []
        self.raw: Any = None
        self.picture: tuple[int, ...] = ()
        self._agent = remote.agent
        self._vnc = RfbClient("127.0.0.1", remote.vnc_port, PASSWORD)
        self._pointer: Place = (-1, -1)
        self._end: dict[str, Any] | None = None

    def close(self) -> None:
        self._vnc.close()

    async def begin(self, env_id: str, seed: int) -> None:
        """Begin an episode; when this returns its instruction and its things are known."""
        leaving = self._agent.heard[-1]["headers"]["episode_id"]
        reply = await self._agent.hear_reply(await self._agent.reset(env_id, leaving=leaving, seed=seed))
        episode_id = reply["headers"]["episode_id"]
        self.text, self.raw, self._end = "", None, None
        self._agent.heard.clear()
        while not self.text or self.raw is None:
            await self._hear(episode_id)

    async def see(self, condition: Callable[[], Any]) -> None:
        """Look until this holds."""
        while not condition():
            assert self._end is None, f"the episode is over: {self._end}"
            await self._hear()

    async def find(self, tag: str = "", text: str | None = None, **wanted: str) -> Thing:
        """The first thing of this tag, text and these attributes (``class`` as ``of``), once there is one."""
        await self.see(lambda: self.all(tag, text, **wanted))
        return self.all(tag, text, **wanted)[0]

    def all(self, tag: str = "", text: str | None = None, *, of: str = "", **wanted: str) -> list[Thing]:
        """All such things that can be seen now, below the instruction."""
        return [
            thing
            for thing in self.things
            if (not tag or thing.tag == tag)
            and (text is None or thing.text == text)
            and (not of or thing.has_class(of))
            and all(thing.attributes.get(name) == value for name, value in wanted.items())
            and thing.y >= INSTRUCTION_BOTTOM
            and thing.width
            and thing.height
        ]

    def outline(self) -> list[Any]:
        """What the task is made of, and what state it is in."""
        return [(thing.tag, thing.text, thing.value, thing.checked, thing.above, thing.marks) for thing in self.things]

    async def end(self) -> dict[str, Any]:
        """The body of the episode's last reward."""
        while self._end is None:
            await self._hear()
        return self._end

    # ── hands ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def move(self, place: Place, buttons: int = 0) -> None:
        """Move the pointer; when this returns the page has seen it there."""
        x, y = map(round, place)
        self._vnc.pointer(x, y, buttons)
        await self.see(lambda: math.dist(self._pointer, (x, y)) < 1)

    async def click(self, at: Thing | Place) -> None:
        place = at.middle if isinstance(at, Thing) else at
        await self.move(place)
        for buttons in (LEFT, 0):
            self._vnc.pointer(round(place[0]), round(place[1]), buttons)

    def type(self, text: str) -> None:
        """Type characters into what has the focus; ``\\t`` and ``\\r`` are the keys for them."""
        for character in text:
            shifted = character.isupper() or character in SHIFTED
            if shifted:
                self._vnc.key(SHIFT, down=True)
            self._vnc.press(KEYS.get(character) or ord(character))
            if shifted:
                self._vnc.key(SHIFT, down=False)

    # ── ears ────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _hear(self, episode_id: str | None = None) -> None:
        message = await self._agent.hear()
        if episode_id is not None and message["headers"].get("episode_id") != episode_id:
            return
        body = message["body"]
        match message["method"]:
            case "v0.env.text":
                self.text = body["text"]
            case "v0.env.observation":
                self.raw = body["observation"]
                self._pointer = tuple(self.raw["pointer"])
                self.things = [Thing(tag, text, *at, *rest) for tag, text, at, *rest in self.raw["things"]]
            case "v0.env.describe" if body["env_state"] == "running":
                self.picture = tuple(body["picture"])
            case "v0.env.reward" if body["done"]:
                self._end = body
            case _:
                pass
