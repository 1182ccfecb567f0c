import io
import threading
import time
from collections.abc import Generator
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow
from pluriverse.adapters.computer import (
    Act,
    Answer,
    Click,
    Computer,
    Drag,
    Hold,
    Image,
    Look,
    Mark,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
    Where,
)
from pluriverse.adapters.computer.acts import MAX_PATH_POINTS
from pluriverse.adapters.computer.key_names import chord
from pluriverse.env.connections import Clock
from pluriverse.errors import ActionError, ConfigurationError, Misuse, ResetNeeded
from pluriverse_protocol.events import KeyEvent
from support.pages import write_runtime
from support.remotes import on_machine

pytestmark = pytest.mark.display

PONG = "gym-core.PongNoFrameskip-v3"
UP = 0xFF52

# Says what is done to it, and paints each pixel in a colour of its own.
PAGE = """<style>body { margin: 0; overflow: hidden } input { position: absolute; left: 100px; top: 60px; width: 150px }
</style><canvas width=320 height=240></canvas><input autofocus><script>
const said = [];
const say = (...words) => { said.push(words.join(" ")); game.message = said.slice(-6).join("|") };
const held = (event) => ["ctrl", "shift"].filter((name) => event[name + "Key"]).join("+");
for (const name of ["mousedown", "mouseup", "dblclick"])
  addEventListener(name, (event) => say(name, event.clientX, event.clientY, event.button, held(event)));
addEventListener("wheel", (event) => say("wheel", Math.sign(event.deltaX), Math.sign(event.deltaY)));
addEventListener("contextmenu", (event) => event.preventDefault());
document.querySelector("input").addEventListener("input", (event) => say("text", event.target.value));
const context = document.querySelector("canvas").getContext("2d"), image = context.createImageData(320, 240);
for (let at = 0; at < 320 * 240; at++) image.data.set([at % 320 / 2, Math.floor(at / 320), 0, 255], 4 * at);
context.putImageData(image, 0, 0);
game.picture = [0, 0, 320, 240];
game.begin(0);
</script>"""


# Red, and blue in the part that is the environment's.
APART = """<style>body { margin: 0; background: #f00 } div { position: absolute; left: 40px; top: 30px; width: 100px;
height: 60px; background: #00f }</style><div></div><script>game.picture = [40, 30, 100, 60]; game.begin(0);</script>"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    folder = write_runtime(tmp_path_factory.mktemp("pages"), {"said": PAGE, "apart": APART})
    with on_machine(runtime=str(folder)) as remote:
        yield remote.address


@pytest.fixture(scope="module", params=["realtime", "lockstep"])
def clock(request: pytest.FixtureRequest) -> Clock:
    return request.param


@pytest.fixture
def page(pages: str, clock: Clock) -> Generator[Computer]:
    """A page that says what was done to it, in pictures of half its size."""
    with Computer("pages.said-v0", pages, width=160, height=120, clock=clock) as computer:
        computer.begin()
        yield computer


def test_one_that_is_made_begins_no_episode_before_it_is_asked_to(pages: str, clock: Clock) -> None:
    episodes: list[Any] = []
    for _ in range(2):
        with Computer("pages.said-v0", pages, clock=clock) as computer:
            assert computer.over
            computer.begin()
            episodes.append(computer.standing().episode_id)
    assert episodes[1] == episodes[0] + 1


def test_a_picture_is_the_environments_part_of_the_screen_wherever_that_is(clock: Clock, pages: str) -> None:
    with Computer("pages.apart-v0", pages, clock=clock) as computer:
        computer.begin()
        deadline = time.monotonic() + 20
        while (shown := pixels(computer.look())).max(axis=(0, 1)).tolist() != [0, 0, 255]:
            assert time.monotonic() < deadline, shown[0, 0]
        assert shown.shape == (60, 100, 3)
        assert shown.min(axis=(0, 1)).tolist() == [0, 0, 255]
        assert (computer.pixels() == shown).all()


@pytest.fixture
def pong(address: str, clock: Clock) -> Generator[Computer]:
    with Computer(PONG, address, clock=clock) as computer:
        computer.begin(3)
        yield computer


def said(computer: Computer, expected: str) -> None:
    """Wait until the page has said it."""
    deadline = time.monotonic() + 20
    text = ""
    while expected not in text:
        assert time.monotonic() < deadline, text
        computer.do(Wait(0.05))
        text = computer.status().text


def pixels(image: Image) -> np.ndarray:
    return np.asarray(Pillow.open(io.BytesIO(image.data)))


def image_of(answer: Answer) -> Image:
    assert answer.image is not None
    return answer.image


def test_keys_that_the_environment_does_not_use_are_named(pong: Computer) -> None:
    assert pong.do(Type("mom")).message == "The environment doesn't use the keys m o, and ignored them."
    assert pong.do(Press((UP,))).message == ""


def test_a_page_gets_what_the_pointer_does(page: Computer) -> None:
    # In the middle when an episode begins.
    x, y = page.view.to_screen((80, 60))
    page.do(Click("left"))
    said(page, f"mousedown {x} {y} 0 |mouseup {x} {y} 0")
    for corner in ((0, 0), (159, 119)):
        x, y = page.view.to_screen(corner)
        page.do(Click("left", corner))
        said(page, f"mousedown {x} {y} 0 |mouseup {x} {y} 0")
        assert page.do(Where()).message == f"X={corner[0]},Y={corner[1]}"
    acts: list[tuple[Act, str]] = [
        (Click("right", (5, 5), 1, (0xFFE3,)), "mousedown 11 11 2 ctrl|mouseup 11 11 2 ctrl"),
        (Click("left", (5, 5), 2), "dblclick 11 11 0"),
        (Click("back", (5, 5)), "mousedown 11 11 3 |mouseup 11 11 3"),
        (Click("forward", (5, 5)), "mousedown 11 11 4 |mouseup 11 11 4"),
        (Drag(((5, 5), (50, 5), (50, 50))), "mousedown 11 11 0 |mouseup 101 101 0"),
        (Scroll(0, -1, (5, 5)), "wheel 0 -1"),
        (Scroll(1, 0, (5, 5)), "wheel 1 0"),
    ]
    for act, expected in acts:
        page.do(act)
        said(page, expected)


def test_what_is_given_up_breaks_off_and_leaves_nothing_pressed(page: Computer) -> None:
    page.given_up = threading.Event()
    threading.Timer(0.5, page.given_up.set).start()
    # It would take 15 seconds.
    with pytest.raises(CancelledError):
        page.do(Drag(((20, 20), (30, 30)) * (MAX_PATH_POINTS // 2), chord("ctrl")))
    page.given_up = None
    said(page, "mouseup")
    page.do(Click("left", (5, 5)))
    said(page, "mousedown 11 11 0 |mouseup 11 11 0 ")


def test_any_text_is_written_and_a_shortcut_pressed_without_shift_however_its_letter_is_written(
    page: Computer,
) -> None:
    for act in (Click("left", (80, 34)), Type("aA1 é€日😀~"), Press(chord("CTRL+A")), Type("d")):
        page.do(act)
    said(page, "text aA1 é€日😀~|text d")


def test_what_was_held_is_released_when_another_episode_begins(page: Computer) -> None:
    page.do(Click("left", (5, 5)))
    page.do(Hold(True))
    page.begin()
    page.do(Click("left", (7, 7)))
    said(page, "mousedown 15 15 0 |mouseup 15 15 0")


def test_a_region_is_enlarged(page: Computer) -> None:
    whole = pixels(page.look())
    assert whole.shape == (120, 160, 3)
    part = pixels(page.look((0, 0, 40, 30)))
    assert part.shape == (120, 160, 3)
    # The lower right corner of the part is pixel 79, 59 of the page.
    assert np.abs(part[-1, -1].astype(int) - (39, 59, 0)).max() <= 1
    assert pixels(page.look(format="jpeg")).shape == whole.shape


def test_the_pointer_is_drawn_where_it_was_put_and_only_into_what_is_handed_out(clock: Clock, address: str) -> None:
    with Computer(PONG, address, clock=clock, pointer=True) as computer:
        computer.begin(1)
        for place in ((40, 30), (100, 150)):
            computer.do(Move(place))
            screen = computer.pixels()
            before = screen.copy()
            drawn = pixels(computer.seen())
            rows, columns = np.nonzero((drawn != before).any(2))
            assert rows.size > 20
            assert (rows.min(), columns.min()) >= (place[1], place[0])
            assert (rows.max(), columns.max()) <= (place[1] + 11, place[0] + 7)
            assert np.array_equal(screen, before)
        # A part that it isn't in.
        assert np.array_equal(pixels(computer._picture(computer._view_of((0, 0, 20, 20)), None))[0, 0], before[0, 0])  # pyright: ignore[reportPrivateUsage]


def test_marks_are_drawn_and_clicked_and_the_tree_says_what_they_are_of(page: Computer) -> None:
    with pytest.raises(ActionError, match="no marks yet"):
        page.do(Click(at=Mark(1)))
    plain, marked = pixels(page.look()), pixels(page.look(marks=True))
    tree = page.last_tree
    assert tree is not None
    # The field is 100 pixels from the left and 60 from the top.
    (field,) = (node for node in tree.nodes if node.role == "textbox")
    assert field.box[:2] == (50, 30)
    assert "] textbox (50,30," in tree.text()
    assert (plain[30, 51:120] != marked[30, 51:120]).any(1).all()
    number = tree.numbers[tree.nodes.index(field)]
    x, y, width, height = tree.marks[number]
    page.do(Click(at=Mark(number)))
    said(page, f"mousedown {x + width // 2} {y + height // 2} 0")
    page.do(Type("ab"))
    said(page, "text ab")
    assert '= "ab"' in page.tree().text()
    with pytest.raises(ActionError, match="no mark 77"):
        page.do(Move(Mark(77)))
    assert pixels(page.look((0, 0, 40, 30), marks=True)).shape == (120, 160, 3)
    page.begin()
    with pytest.raises(ActionError, match="no marks yet"):
        page.do(Click(at=Mark(number)))


def test_an_environment_that_tells_no_tree_says_so(pong: Computer) -> None:
    for ask in (pong.tree, lambda: pong.look(marks=True)):
        with pytest.raises(Misuse, match=r"PongNoFrameskip-v3 at .* lacks the capability 'tree'"):
            ask()
    assert pixels(pong.look()).shape == (210, 160, 3)


def test_timed_events_give_pictures_and_their_times(pong: Computer) -> None:
    events = [(0.0, KeyEvent(UP, True)), (120.0, KeyEvent(UP, False))]
    frames = pong.act_for(events, 500, frames=5)
    times = [frame.at_ms for frame in frames]
    assert len(times) == 5
    assert times == sorted(times)
    if pong.clock == "lockstep":
        assert times == pytest.approx([100, 200, 300, 400, 500])
    else:
        # On a busy machine frames are late, never early.
        assert times[-1] >= 500 - 2 * pong.frame_ms
    assert pixels(frames[0].image).shape == (210, 160, 3)


def test_each_act_is_answered_with_the_picture_the_reward_and_the_text(page: Computer) -> None:
    told = page.begin()
    assert pixels(image_of(told)).shape == (120, 160, 3)
    assert (told.reward, told.over, told.failed) == (0, False, False)
    answers = page.do_all([lambda: Click("left", (5, 5)), lambda: Wait(0.2), Where])
    assert all(np.array_equal(pixels(image_of(each)), image_of(each).pixels) for each in answers)
    assert answers[2].message == "X=5,Y=5"
    said(page, "mousedown 11 11 0 ")
    assert page.do(Wait(0.0)).text == page.text


def test_the_rewards_of_all_answers_are_the_total_and_the_time_that_is_left_gets_less(pong: Computer) -> None:
    limit_s = pong.described.time_limit
    assert limit_s is not None
    rewards, left_s = [0.0], [limit_s]
    while not pong.total_reward:
        rewards.append(pong.do(Press((UP,), seconds=1.0)).reward)
        left_s.append(pong.time_left_s or 0.0)
    assert sum(rewards) == pong.total_reward == -1
    assert left_s == sorted(left_s, reverse=True)
    if pong.clock == "lockstep":
        assert left_s[1] == pytest.approx(limit_s - 1)


def test_status_counts_what_was_earned_since_the_last_one(pong: Computer) -> None:
    total, status = 0.0, pong.status()
    while not total:
        pong.do(Press((UP,), seconds=1.0))
        before, status = total, pong.status()
        total = pong.total_reward
        assert status.reward == total - before
    assert not status.done
    if pong.clock == "lockstep":
        assert status.lags.ms == {}
        assert pong.status().elapsed == status.elapsed
    else:
        low, high = status.lags.ms["observation"]
        assert low <= high


def test_the_end_of_an_episode_is_told_and_what_comes_after_it_refused(address: str) -> None:
    with Computer("gym-core.CartPole-v0", address, clock="lockstep") as pole:
        pole.begin(1)
        pole.do(Wait(5))
        status = pole.status()
        assert (status.done, status.terminated) == (True, True)
        answers = pole.do_all([lambda: Press((UP,)), Look])
        assert [answer.failed for answer in answers] == [True, True]
        assert answers[0].message == "the episode is over, or none has begun; begin another first"
        assert answers[1].message.startswith("not executed")
        with pytest.raises(ResetNeeded):
            pole.do(Press((UP,)))
        pole.begin(1)
        assert not pole.status().done


def test_another_environment_of_the_runtime_is_begun_in_the_same_remote(pong: Computer) -> None:
    started, clock = pong._core.env.addresses, pong.clock  # pyright: ignore[reportPrivateUsage]
    begun = pong.begin(3, env="gym-core.CartPole-v0")
    assert pixels(image_of(begun)).shape[:2] == (pong.view.height, pong.view.width) == (400, 600)
    assert pong.described.env_id == "gym-core.CartPole-v0"
    pong.do(Press((UP,)))
    pong.begin(3, env=PONG, options={"difficulty": 1})
    assert pixels(pong.look()).shape == (210, 160, 3)
    assert pong.do(Press((UP,), seconds=0.2)).message == ""
    assert pong._core.env.addresses == started  # pyright: ignore[reportPrivateUsage]
    assert pong.clock == clock
    assert has_a_screen(pong) == (clock == "realtime")


def test_an_environment_or_option_that_the_remote_does_not_have_is_refused_and_the_one_before_begins(
    pong: Computer,
) -> None:
    wrongs: list[dict[str, Any]] = [{"env": "gym-core.Nowhere-v0"}, {"options": {"nonsense": 1}}]
    for wrong in wrongs:
        with pytest.raises(ConfigurationError, match=r"Nowhere|nonsense"):
            pong.begin(**wrong)
        with pytest.raises(ResetNeeded):
            pong.do(Press((UP,)))
        assert pixels(image_of(pong.begin())).shape == (210, 160, 3)
        assert pong.described.env_id == PONG


def has_a_screen(computer: Computer) -> bool:
    core = computer._core  # pyright: ignore[reportPrivateUsage]
    (connection,) = core.env.require().by_index
    return connection is not None and connection.screen is not None


def test_each_clock_is_chosen_with_an_episode(pong: Computer) -> None:
    clock = pong.clock
    other: Clock = "realtime" if clock == "lockstep" else "lockstep"
    pong.begin(3, clock=other)
    assert (pong.clock, pong.described.clock or "realtime") == (other, other)
    assert has_a_screen(pong) == (other == "realtime")
    assert pong.do(Press((UP,), seconds=0.2)).message == ""
    pong.begin(3, clock=clock)
    pong.do(Press((UP,), seconds=0.2))
    assert pong.clock == clock


def test_a_batch_that_is_too_large_is_refused_as_a_whole(page: Computer) -> None:
    answers = page.do_all([lambda: Click("left", (5, 5))] * 1000)
    assert len(answers) == 1000
    assert set(answers) == {Answer("1000 actions; expected at most 100 at once", failed=True)}
    assert "mousedown" not in page.status().text


def test_options_are_checked_before_anything_starts() -> None:
    with pytest.raises(ConfigurationError, match="format"):
        Computer(PONG, "local:1", format="gif")  # pyright: ignore[reportArgumentType] - that is the point
    with pytest.raises(ConfigurationError, match="width"):
        Computer(PONG, "local:1", width=0)
