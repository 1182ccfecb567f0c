"""A page's time is the agent's: in a real browser on a real screen, whose pixels are compared."""

import asyncio
import itertools
import string
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final

import numpy as np
import pytest
import pytest_asyncio
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.reports import Done, Observation, Reward
from pluriverse_server.scraper import page_clock
from pluriverse_server.scraper.page_clock import Stuck
from support.pages import SIDE_CLICKS, SIDES, short_folder, write_runtime
from support.stepped import Stepped, stepped

# Key codes that aren't ASCII's: https://w3c.github.io/uievents/#fixed-virtual-key-codes, and Chromium's own.
_CODES: Final = {
    **{f"{letter}{letter.upper()}": (f"Key{letter.upper()}", ord(letter.upper())) for letter in string.ascii_lowercase},
    **{f"{digit}{')!@#$%^&*('[int(digit)]}": (f"Digit{digit}", ord(digit)) for digit in string.digits},
    "`~": ("Backquote", 192),
    "-_": ("Minus", 189),
    "=+": ("Equal", 187),
    "[{": ("BracketLeft", 219),
    "]}": ("BracketRight", 221),
    "\\|": ("Backslash", 220),
    ";:": ("Semicolon", 186),
    "'\"": ("Quote", 222),
    ",<": ("Comma", 188),
    ".>": ("Period", 190),
    "/?": ("Slash", 191),
    " ": ("Space", 32),
}

KEYS: Final = {character: [character, *code] for characters, code in _CODES.items() for character in characters}
"""``key``, ``code`` and ``keyCode`` of a ``KeyboardEvent``, by character."""


pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

GOOD = "<script>game.begin(pluriverse.seed); game.state = []</script>"
# Says what happened, and when, in milliseconds since the key was pressed.
SAY = """
  let pressed = 0;
  const say = (what) => { game.state = [...game.state, [what, performance.now() - pressed]] };
  addEventListener("keydown", () => { pressed = performance.now() }, { capture: true });
"""

# Its two frames, red and blue, take a twentieth of a second each.
GIF = (
    "R0lGODlhKAAoAIEAAP8AAAAAAAAAAAAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQABQAAACwAAAAAKAAoAAAIQwABCBxIsKDBgwgT"
    "KlzIsKHDhxAjSpxIsaLFixgzatzIsaPHjyBDihxJsqTJkyhTqlzJsqXLlzBjypxJs6bNmzgJBgQAIfkEAQUAAQAsAAAAACgAKACB"
    "AAD/AAAAAAAAAAAACEMAAQgcSLCgwYMIEypcyLChw4cQI0qcSLGixYsYM2rcyLGjx48gQ4ocSbKkyZMoU6pcybKly5cwY8qcSbOm"
    "zZs4CQYEADs="
)

# Each is begun by its document.
PAGES = {
    "Good": "",
    "Timers": f"""<script>{SAY} on.w = () => {{
      setTimeout(() => say("30"), 30); setTimeout(() => say("10, second"), 10.9); setTimeout("say('5, text')", 5);
      const until = pressed + 50;
      const each = setInterval(() => {{ say("each 20"); if (performance.now() > until) clearInterval(each) }}, 20);
      clearTimeout(setTimeout(() => say("never"), 1));
      setTimeout(() => {{ throw Error("its own trouble") }}, 2);
      setTimeout((a, b) => Promise.resolve().then(() => say(a + b)), 1, "argu", "ments");
    }}</script>""",
    "Frames": f"""<script>{SAY} on.w = () => {{
      const first = () => {{ say("frame"); requestAnimationFrame(second); setTimeout(() => say("between"), 1) }};
      const second = (at) => {{ if (at === performance.now()) say("frame") }};
      requestAnimationFrame(first);
      cancelAnimationFrame(requestAnimationFrame(() => say("never")));
    }}</script>""",
    "Times": """<script>on.w = () => {
      const times = () => [Date.now(), Number(new Date()), performance.now(), document.timeline.currentTime,
        new Event("x").timeStamp];
      const begun = times();
      setTimeout(() => { game.state = times().map((time, index) => Math.round(time - begun[index])) }, 500);
    }</script>""",
    "Waits": f"""<script>{SAY}
      const sound = new AudioContext();
      on.w = () => {{
        const begun = sound.currentTime;
        AbortSignal.timeout(40).onabort = ({{ target }}) => say(target.reason.name);
        setTimeout(() => say(Math.round(1000 * (sound.currentTime - begun))), 30);
      }};
    </script>""",
    "Asks": f"""<script>{SAY} on.w = async () => {{
      const begun = Date.now();
      const told = new Intl.DateTimeFormat("en", {{ fractionalSecondDigits: 3, second: "numeric", timeZone: "UTC" }});
      webkitRequestAnimationFrame(() => say("frame"));
      await scheduler.postTask(() => say("task"), {{ delay: 500 }});
      const date = new Date();
      say([
        Temporal.Now.instant().epochMilliseconds - date, Temporal.Now.plainDateTimeISO("UTC").millisecond - date % 1000,
        told.format() === told.format(date), told.formatToParts().at(-1).value - date % 1000,
      ]);
      while (Date.now() < begun + 600);
      say("waited");
    }}</script>""",
    "Random": """<script>on.w = () => {
      game.state = [Math.random(), ...crypto.getRandomValues(new Uint32Array(2)), crypto.randomUUID()];
    }</script>""",
    "Canvas": """<body style="margin:0"><canvas width=320 height=240></canvas><script>
      const paint = document.querySelector("canvas").getContext("2d");
      const draw = (at) => {
        paint.fillStyle = `hsl(${at / 5}deg 90% 50%)`;
        paint.beginPath(); paint.arc(320 * Math.random(), at / 10 % 240, 20, 0, 7); paint.fill();
        requestAnimationFrame(draw);
      };
      requestAnimationFrame(draw);
      onmousemove = ({ clientX, clientY }) => paint.strokeRect(clientX - 5, clientY - 5, 10, 10);
      onmousedown = ({ clientX, clientY }) => paint.fillRect(clientX - 5, clientY - 5, 10, 10);
    </script>""",
    "Moves": """<style>
      body { margin: 0 } i { position: absolute; width: 20px; height: 20px; background: red }
      #a { left: 0 } .goes { animation: go 1s linear infinite } @keyframes go { to { left: 200px } }
      #b { top: 40px; left: 0; transition: left 1s linear } #c { top: 80px; left: 0 }
    </style><i id=a></i><i id=b></i><i id=c></i><script>
      on.w = () => {
        a.className = "goes";
        b.style.left = "200px";
        c.animate({ left: ["0px", "200px"] }, { duration: 1000, fill: "forwards" }).finished.then(() => game.score++);
      };
      b.ontransitionend = () => game.score++;
    </script>""",
    "Turns": """<style>
      i { position: absolute; left: 0; width: 20px; height: 20px; background: red; display: none }
      .goes { display: block; animation: go .1s linear infinite } @keyframes go { to { opacity: 0 } }
    </style><i id=a></i><script>
      on.w = () => { a.className = "goes"; game.over = "lost" };
    </script>""",
    "Picture": f"""<img style="position:fixed;left:0;top:0" src="data:image/gif;base64,{GIF}">
      <input autofocus style="font: 20px monospace">""",
    "List": f"""<select multiple style="position:fixed;left:0;top:0;height:90px">{"<option>some" * 40}</select><script>
      const list = document.querySelector("select");
      list.scrollTop = 200;
      on.w = () => {{ game.state = list.scrollTop }};
    </script>""",
    "Menu": "<select style='position:fixed;left:0;top:0'><option>one<option>two<option>three</select>",
    "Clicks": """<script>
      onmousedown = ({ detail }) => { game.state = [...game.state, detail] };
      ondblclick = () => { game.state = [...game.state, "double"] };
    </script>""",
    "Ticks": """<script>
      const tick = () => { game.state = performance.now(); requestAnimationFrame(tick) };
      tick();
    </script>""",
    "Inner": f"""<script>{SAY}
      onmessage = ({{ data }}) => say(data);
    </script><iframe srcdoc="<script>
      onmessage = () => setTimeout(() => parent.postMessage(performance.now(), '*'), 40)
    </script>"></iframe><script>on.w = () => {{ frames[0].postMessage(0, "*") }}</script>""",
    "Shows": """<style>i { position: absolute; left: 0; width: 200px; height: 200px }</style><i id=a></i><script>
      const show = (answer) => { a.style.background = "red"; a.textContent = answer.slice(0, 99) };
      on.w = () => setTimeout(async () => show(await (await fetch("Good.html")).text()));
    </script>""",
    "Order": """<body style="height: 9000px"><script>
      const say = ({ type, key }) => { game.state = [...game.state, key ?? type] };
      for (const kind of ["keydown", "keyup", "mousemove", "mousedown", "mouseup", "wheel", "beforeinput"]) {
        addEventListener(kind, (event) => {
          say(event);
          event.preventDefault();
          // Seen in the next frame, which tells it in turn.
          scrollBy(0, 1);
        }, { passive: false });
      }
      onscroll = say;
    </script>""",
    "Late": """<script>
      onmouseover = onmousemove = ({ type }) => { game.state = [...game.state, type] };
    </script>""",
    "Keys": """<script>
      const typed = [];
      onkeydown = ({ key, code, keyCode }) => { if (key !== "Shift") typed.push([key, code, keyCode]) };
      on["~"] = () => { game.state = typed };
    </script>""",
    "Sides": SIDES,
    "Ends": "<script>on.w = () => setTimeout(() => { game.score = 5; game.over = 'won' }, 50)</script>",
}

W = (KeyEvent(ord("w"), down=True), KeyEvent(ord("w"), down=False))
FRAME_MS = 1000 / 60


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played() -> AsyncGenerator[Stepped]:
    with short_folder() as folder:
        async with stepped(write_runtime(folder, {name: GOOD + page for name, page in PAGES.items()})) as played:
            yield played


def state(played: Stepped) -> Any:
    return [report.observation for report in played.said if isinstance(report, Observation)][-1]


def at(*points: tuple[int, int], buttons: int = 0) -> Sequence[PointerEvent]:
    return [PointerEvent(x, y, buttons) for x, y in points]


async def test_timers_are_due_in_their_order_each_at_its_own_time(played: Stepped) -> None:
    await played.play("pages.Timers-v0", 1)
    await played.step(W, 6)
    said = state(played)
    assert [what for what, _ in said] == [
        "arguments", "5, text", "10, second", "each 20", "30", "each 20", "each 20"
    ]  # fmt: skip
    assert [time for _, time in said] == [1, 5, 10, 20, 30, 40, 60]


async def test_animation_frames_come_once_a_frame_after_its_timers(played: Stepped) -> None:
    await played.play("pages.Frames-v0", 1)
    await played.step(W, 3)
    said = state(played)
    assert [what for what, _ in said] == ["frame", "between", "frame"]
    assert [round(time / FRAME_MS) for _, time in said[::2]] == [1, 2]


async def test_all_clocks_of_the_page_agree(played: Stepped) -> None:
    await played.play("pages.Times-v0", 1)
    await played.step(W, 30)
    assert state(played) == [500] * 5
    # Frames may be longer than the page's.
    await played.play("pages.Times-v0", 1)
    await played.clock.begin(30)
    await played.step(W, 14)
    assert not any(isinstance(report, Observation) for report in played.said)
    await played.step()
    assert state(played) == [500] * 5


async def test_what_waits_for_a_time_in_other_ways_waits_for_the_same_clock(played: Stepped) -> None:
    await played.play("pages.Waits-v0", 1)
    await asyncio.sleep(0.1)
    await played.step(W, 3)
    assert state(played) == [[30, 30], ["TimeoutError", 40]]


async def test_who_asks_for_the_time_in_yet_other_ways_is_told_the_same(played: Stepped) -> None:
    await played.play("pages.Asks-v0", 1)
    await played.step(W, 60)
    said = state(played)
    assert [what for what, _ in said[:2]] == ["frame", "task"]
    assert said[2][0] == [0, 0, True, 0]
    assert said[3][0] == "waited"
    assert said[3][1] - said[1][1] == pytest.approx(100, abs=20)


async def test_time_stands_still_and_a_key_that_is_held_does_not_repeat_while_nobody_steps(played: Stepped) -> None:
    await played.play("pages.Canvas-v0", 1)
    await played.step(frames=9)
    before = await played.step([KeyEvent(ord("a"), down=True)])
    assert [report.reward for report in played.said if isinstance(report, Reward)] == [1]
    await asyncio.sleep(1)
    # Seen anew.
    played.clock.forget()
    assert np.array_equal(before, await played.clock.pixels())
    assert not np.array_equal(before, await played.step([KeyEvent(ord("a"), down=False)]))
    assert not any(isinstance(report, Reward) for report in played.said)


async def test_random_numbers_are_of_the_seed(played: Stepped) -> None:
    drawn: list[Any] = []
    for seed, anew in ((1, True), (1, False), (2**40, True), (2, True)):
        await played.play("pages.Random-v0", seed, anew=anew)
        await played.step(W, 2)
        drawn.append(state(played))
    assert drawn[0] == drawn[1]
    assert len({str(each) for each in drawn}) == 3


async def test_same_seed_and_input_give_the_same_pixels(played: Stepped) -> None:
    async def run(seed: int) -> list[bytes]:
        seen = [(await played.play("pages.Canvas-v0", seed, anew=True)).tobytes()]
        for frame in range(40):
            moved = at((5 * frame, 100)) if frame % 3 == 0 else ()
            pressed = at((5 * frame, 100), buttons=1) if frame % 12 == 0 else ()
            seen.append((await played.step([*moved, *pressed, *(at((5 * frame, 100)) if pressed else ())])).tobytes())
        return seen

    first, second, other = await run(3), await run(3), await run(4)
    assert first == second
    assert len(set(first)) > 35
    assert first != other


async def test_animations_and_transitions_go_by_the_same_clock(played: Stepped) -> None:
    async def left(row: int, *, expected: int) -> None:
        pixels = await played.clock.pixels()
        red = np.flatnonzero(pixels[row, :, 1] < 100)
        assert abs(int(red[0]) - expected) <= 1

    await played.play("pages.Moves-v0", 1, anew=True)
    await played.step(W)
    await played.step(frames=29)
    await left(10, expected=100)
    await left(50, expected=100)
    await left(90, expected=100)
    await played.step(frames=32)
    await left(50, expected=200)
    await left(90, expected=200)
    assert sum(report.reward for report in played.said if isinstance(report, Reward)) == 2


async def test_animation_has_not_begun_when_the_input_that_begins_it_is_over(played: Stepped) -> None:
    for _ in range(8):
        await played.play("pages.Turns-v0", 1, anew=True)
        # An episode that ends with this takes its last picture now.
        await played.clock.apply(W)
        assert (await played.clock.pixels())[10, 10].tolist() == [255, 0, 0]


async def test_clicks_are_double_where_they_come_in_one_step_however_fast_steps_are(played: Stepped) -> None:
    await played.play("pages.Clicks-v0", 1)
    click = [*at((50, 50)), *at((50, 50), buttons=1), *at((50, 50))]
    await played.step(click)
    await played.step(click)
    assert state(played) == [1, 1]
    await played.step([*click, *click])
    assert state(played) == [1, 1, 1, 2, "double"]


async def test_each_input_of_a_step_is_over_before_the_next_with_all_that_frames_bring(played: Stepped) -> None:
    await played.play("pages.Order-v0", 1, anew=True)
    b, shifted_a = ([KeyEvent(ord(letter), down) for down in (True, False)] for letter in "bA")
    pointer = [*at((50, 50), buttons=1), *at((60, 50), buttons=1 | 16), *at((60, 50)), *at((70, 50), buttons=4)]
    await played.step([*b, *shifted_a, *pointer, KeyEvent(ord("c"), down=True)])
    keys = ["b", "b", "Shift", "A", "Shift", "a"]
    moved = ["mousemove", "mousedown", "mousemove", "wheel", "mouseup", "mousemove", "mousedown"]
    assert state(played)[::2] == [*keys, *moved, "c"]
    assert set(state(played)[1::2]) == {"scroll"}


async def test_click_where_the_pointer_is_does_not_move_it(played: Stepped) -> None:
    await played.play("pages.Order-v0", 1, anew=True)
    for buttons in (0, 1, 0):
        await played.step(at((50, 50), buttons=buttons))
    assert [each for each in state(played) if each != "scroll"] == ["mousemove", "mousedown", "mouseup"]


async def test_document_is_not_told_of_the_pointer_before_the_agent_moves_it(played: Stepped) -> None:
    await played.play("pages.Late-v0", 1, anew=True)
    await played.step()
    assert not [report for report in played.said if isinstance(report, Observation)]
    await played.step(at((50, 50)))
    assert state(played) == ["mousemove"]


@pytest.mark.slow
async def test_ascii_comes_from_the_keys_of_a_us_keyboard(played: Stepped) -> None:
    await played.play("pages.Keys-v0", 1)
    characters = sorted(KEYS)
    await played.step([KeyEvent(ord(character), down) for character in characters for down in (True, False)], 2)
    assert state(played) == [KEYS[character] for character in characters]


async def test_back_and_forward_are_the_pages_buttons_and_leave_nothing(played: Stepped) -> None:
    await played.play("pages.Sides-v0", 1)
    await played.step([*at((50, 50)), *W])
    for mask in (128, 256):
        await played.step([*at((50, 50), buttons=mask), *at((50, 50))], 5)
    assert state(played) == SIDE_CLICKS


@pytest.mark.slow
async def test_menus_of_the_browser_can_be_chosen_from(played: Stepped) -> None:
    async def choose() -> list[bytes]:
        seen = [(await played.play("pages.Menu-v0", 1, anew=True)).tobytes()]
        for place, buttons in itertools.product(((10, 10), (10, 50)), (0, 1, 0)):
            pixels = await played.step(at(place, buttons=buttons))
            seen.append(pixels.tobytes())
        return seen

    first = await choose()
    assert first == await choose()
    assert len(set(first)) > 2


async def test_list_stays_where_it_is_while_a_button_is_held_at_its_edge(played: Stepped) -> None:
    await played.play("pages.List-v0", 1, anew=True)
    await played.step(at((30, 4)))
    await played.step(at((30, 4), buttons=1), frames=10)
    await played.step([*at((30, 4)), *W])
    # It may have been scrolled to show all of the choice.
    assert 180 < state(played) <= 200


async def test_frames_of_the_page_share_its_clock(played: Stepped) -> None:
    await played.play("pages.Inner-v0", 1)
    await played.step(W, 2)
    await played.step()
    ((time, passed),) = state(played)
    assert passed == 40
    assert time > 40


async def test_what_comes_of_a_file_is_on_the_screen_with_the_step_that_waited_for_it(played: Stepped) -> None:
    for _ in range(8):
        await played.play("pages.Shows-v0", 1, anew=True)
        assert (await played.step(W))[10, 10].tolist() == [255, 0, 0]


async def test_last_frame_of_an_episode_is_the_one_that_ends_it(played: Stepped) -> None:
    await played.play("pages.Ends-v0", 1)
    before = played.clock.frames
    await played.step(W)
    assert await played.clock.advance(60, lambda: any(isinstance(report, Done) for report in played.said)) in (2, 3)
    assert [report.reward for report in played.said if isinstance(report, Done)] == [5]
    assert played.clock.frames - before in (3, 4)


async def test_animated_pictures_show_their_first_frame_and_carets_do_not_blink(played: Stepped) -> None:
    await played.play("pages.Picture-v0", 1)
    pixels = await played.step([*W, *W])
    for _ in range(6):
        await asyncio.sleep(0.11)
        played.clock.forget()
        assert np.array_equal(pixels, await played.step(frames=8))


async def test_first_frames_are_as_long_however_many_passed_before_the_page_was_ready(played: Stepped) -> None:
    async def first_frames(*, passed: int) -> list[int]:
        await played.play("pages.Ticks-v0", 1)
        await played.clock.begin(24)
        await played.clock.advance(passed)
        await played.clock.start(lambda: True)
        ticks: list[float] = []
        for _ in range(5):
            await played.step()
            ticks.append(state(played))
        return [round(after - before) for before, after in itertools.pairwise(ticks)]

    assert await first_frames(passed=1) == await first_frames(passed=2)


async def test_page_that_is_at_work_without_end_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    spins = GOOD + "<script>onkeydown = () => new Worker(URL.createObjectURL(new Blob(['for (;;);'])))</script>"
    with short_folder() as folder:
        async with stepped(write_runtime(folder, {"Spins": spins})) as played:
            await played.play("pages.Spins-v0", 1)
            monkeypatch.setattr(page_clock, "STEP_TIMEOUT_S", 0.5)
            with pytest.raises(Stuck, match="without a pause"):
                await played.step([*W, *W])
