"""What steps put into a real X server, and when they end."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pluriverse_server.display import AsyncInjector
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.game import Step
from pluriverse_server.scraper import steps
from pluriverse_server.scraper.source_reader import Cycle
from pluriverse_server.scraper.steps import StepFailed, Steps
from pluriverse_server.sources.reading import Reading
from support.scraped import x_server
from support.xwindow import Window
from Xlib import XK, X

pytestmark = pytest.mark.display


@dataclass
class Stage:
    """A window that gets what the steps do; ``values`` is what their conditions are about."""

    window: Window
    steps: Steps
    values: dict[str, Value]

    async def do(self, **step: Any) -> None:
        await self.steps.do(3, Step.model_validate(step))

    async def event(self, *kinds: int) -> Any:
        return await asyncio.to_thread(self.window.event, *kinds)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    values: dict[str, Value] = {}

    async def cycle() -> Cycle:
        await asyncio.sleep(0.005)
        return Cycle(0.0, {name: Reading(value) for name, value in values.items()}, 0.0)

    async with x_server(tmp_path) as screen:
        xauthority = Path(screen["XAUTHORITY"])
        injector = await AsyncInjector.open(screen["DISPLAY"], xauthority)
        with Window(screen["DISPLAY"], xauthority) as window:
            yield Stage(
                window, Steps(injector, tmp_path, tmp_path / "home", cycle, asyncio.get_running_loop().time), values
            )
        await injector.close()


async def test_keys_are_held_together_text_is_typed_and_clicks_are_where_they_should_be(stage: Stage) -> None:
    await stage.do(keys=["Control_L", "a"])
    events = [await stage.event(X.KeyPress, X.KeyRelease) for _ in range(4)]
    assert [event.type for event in events] == [X.KeyPress, X.KeyPress, X.KeyRelease, X.KeyRelease]
    assert [event.detail for event in events[:2]] == [event.detail for event in events[:1:-1]]
    # A frame of a game at 30 fps lies in between, in X's milliseconds.
    assert events[2].time - events[1].time >= 40
    await stage.do(type="Ab\n")
    typed = [await asyncio.to_thread(stage.window.typed) for _ in range(3)]
    assert typed == [XK.XK_A, XK.XK_b, XK.XK_Return]
    await stage.do(click=[30, 40], button=3)
    press, release = await stage.event(X.ButtonPress), await stage.event(X.ButtonRelease)
    assert (press.root_x, press.root_y, press.detail, release.detail) == (30, 40, 3, 3)


async def test_keys_of_a_step_that_is_given_up_are_let_go(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "HOLD_S", 600.0)
    doing = asyncio.create_task(stage.do(keys=["Control_L", "a"]))
    pressed = [(await stage.event(X.KeyPress)).detail for _ in range(2)]
    doing.cancel()
    released = [(await stage.event(X.KeyRelease)).detail for _ in range(2)]
    assert released == pressed[::-1]
    await asyncio.wait({doing})
    assert doing.cancelled()


async def test_step_waits_until_its_condition_holds_and_does_it_again_meanwhile(stage: Stage) -> None:
    stage.values["menu"] = True
    doing = asyncio.create_task(stage.do(keys=["x"], until="not menu", every_s=0.05))
    for _ in range(3):
        await stage.event(X.KeyPress)
    stage.values["menu"] = False
    await doing
    said = r"step 3 \(wait\): 'menu' did not become true within 0.05 s: menu is False"
    with pytest.raises(StepFailed, match=said):
        await stage.do(until="menu", timeout_s=0.05)
