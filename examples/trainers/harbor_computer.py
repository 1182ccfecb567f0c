"""Harbor's own agent, computer-1, on harbor_screen.py's tasks: it needs neither a desktop nor a browser of its own.

Run it as harbor_screen.py says, with --agent harbor_computer:ScreenComputer and any model that computer-1 takes.
"""

import asyncio
from subprocess import getstatusoutput
from typing import Any

from harbor.agents.computer_1 import computer_1, runtime
from harbor.environments.base import ExecResult
from pluriverse.adapters.computer import Click, Drag, Hold, Move, Press, Scroll, Type, Wait
from pluriverse.adapters.computer.key_names import chord

ACTS = {
    "click": lambda to, held: Click(to.button or "left", None, 1, held),
    **{f"{name}_click": lambda _, held, name=name: Click(name, None, 1, held) for name in ("right", "middle")},
    "double_click": lambda _, held: Click("left", None, 2, held),
    "triple_click": lambda _, held: Click("left", None, 3, held),
    **{f"mouse_{way}": lambda *_, way=way: Hold(way == "down") for way in ("down", "up")},
    "drag": lambda to, held: Drag(((to.x, to.y), (to.end_x, to.end_y)), held),
    "scroll": lambda to, held: Scroll((to.scroll_x or 0) // 100, (to.scroll_y or 0) // 100, None, held),  # in pixels
    "type": lambda to, _: Type((to.text or "") + "\n" * bool(to.press_enter)),
    **dict.fromkeys(("wait", "sleep"), lambda to, _: Wait(to.duration_seconds or to.duration or 1.0)),
    **dict.fromkeys(("key", "keypress", "hold_key"), lambda to, _: Press(chord("+".join(to.keys)), 1, to.duration)),
}


class Screen(runtime.Computer1Session):
    """Its session: an episode that has begun, whose pictures are files of this machine."""

    async def exec(self, command: str, **_: Any) -> ExecResult:
        """Read and write the agent's own files, as it asks for it by a shell; models don't reach this."""
        status, printed = await asyncio.to_thread(getstatusoutput, command)
        return ExecResult(stdout=printed, return_code=status)

    async def is_session_alive(self) -> bool:
        """Return whether the episode goes on."""
        return not self.screen.computer.over

    async def fetch_screenshot(self, env_path: Any) -> str:
        """Write a picture, or the part of it that was asked for, enlarged."""
        self.image, self._zoom_region = await self.screen.look(self._zoom_region), None
        self.image.pil().save(env_path)
        return str(env_path)

    async def latest_png_data_url(self) -> str:
        """Return the last picture."""
        return self.image.data_url()

    async def execute(self, action: runtime.ComputerAction) -> dict[str, Any]:
        """Act, and refuse what there is only in a browser."""
        action = runtime.normalize_completion_action(action, self.geometry)
        self._zoom_region = action.zoom_region and tuple(action.zoom_region)
        if action.x is not None:
            await self.screen.do(Move((action.x, action.y)))
        if (act := ACTS.get(action.type)) is not None:
            await self.screen.do(act(action, chord(action.modifier) if action.modifier else ()))
        elif action.type not in ("mouse_move", "screenshot", "zoom"):
            raise ValueError(f"this screen has no {action.type}")
        return {"status": "ok"}


class ScreenComputer(computer_1.Computer1):
    """The agent, on a ``ScreenEnvironment``."""

    def __init__(self, logs_dir: Any, **options: Any) -> None:
        super().__init__(logs_dir, env_io_dir=str(logs_dir), **options)

    async def setup(self, environment: Any) -> None:
        """Look at the screen; nothing is started."""
        size = dict(zip(("desktop_height", "desktop_width"), environment.first.image.pixels.shape, strict=False))
        self._session = session = Screen(None, self._env_io_dir, **size)
        self._desktop_geometry, session.screen, session.environment = session.geometry, environment.screen, session

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        """Play, and say that it is done where that is graded."""
        await super().run(f"{instruction}\n{environment.first.text}", environment, context)
        if not environment.screen.computer.over and environment.screen.computer.actions.submit:
            await environment.screen.submit()
