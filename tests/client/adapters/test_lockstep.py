import os
import shutil
import signal
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from pluriverse.adapters import lockstep
from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.adapters.pictures import PictureOptions, Pixels
from pluriverse.errors import Closed, ConfigurationError, Misuse, ResetNeeded
from pluriverse.rewarder import step_channel as rewarder_step_channel
from pluriverse.rewarder.result import RUNNING, Result
from pluriverse.vnc import VncOptions
from pluriverse_protocol.step_channel import View
from support.leftovers import Leftovers
from support.remotes import ROOT, daemon_at, on_machine
from support.waiting import until

pytestmark = pytest.mark.browser

PONG = "gym-core.PongDeterministic-v3"
BREAKOUT = "gym-core.BreakoutNoFrameskip-v3"
POLE = "gym-core.CartPole-v0"
LAKE = "gym-core.FrozenLake-v1"
FIRE, UP, DOWN = 1, 2, 3


@pytest.fixture(scope="module")
def pong() -> Generator[Core]:
    with Core(PONG, "local:2", clock="lockstep") as core:
        yield core


@pytest.fixture
def pole(address: str) -> Generator[Core]:
    with Core(POLE, address, clock="lockstep") as core:
        yield core


def begin(core: Core, index: int = 0, **options: Any) -> Result:
    core.reset(index, **options)
    assert core.receive(1) == [index]
    return core.result(index)


def step(core: Core, action: Any, index: int = 0) -> Result:
    core.send({index: action})
    assert core.receive(1) == [index]
    return core.result(index)


def films(core: Core, seed: int, actions: Sequence[int]) -> list[tuple[bytes, float, bool]]:
    begin(core, seed=seed)
    made = [(core.picture(0).tobytes(), 0.0, False)]
    for action in actions:
        result = step(core, action)
        made.append((core.picture(0).tobytes(), result.reward, result.terminated))
        if result.terminated:
            break
    return made


def test_same_seed_and_actions_give_the_same_frames_however_slow_the_agent_is(pong: Core) -> None:
    actions = np.random.default_rng(5).integers(0, 6, 150).tolist()
    assert pong.exact
    first = films(pong, 3, actions)
    begin(pong, seed=3)
    for action, expected in zip(actions, first[1:], strict=True):
        if action == 0:
            time.sleep(0.005)
        result = step(pong, action)
        assert (pong.picture(0).tobytes(), result.reward, result.terminated) == expected
    assert len({picture for picture, _, _ in first}) > 100


def test_every_reset_begins_an_episode_and_one_that_joins_takes_the_one_that_has_begun(pole: Core) -> None:
    episode = begin(pole, seed=1).episode_id
    assert episode is not None
    for join in (True, False):
        while not pole.result(0).terminated:
            step(pole, 0)
        first = begin(pole, join=join)
        assert first.first
        assert (first.elapsed, first.reward) == (0, 0.0)
        assert first.episode_id is not None
        assert first.episode_id > episode
        assert not join or first.episode_id == episode + 1
        episode = first.episode_id
    # Nothing has ended, so there is nothing to join.
    assert begin(pole, join=True).episode_id == episode + 1


def test_reset_in_the_middle_of_a_step_forgets_it(pong: Core) -> None:
    for seed in range(20):
        begin(pong, seed=seed)
        pong.send({0: UP})
        first = begin(pong, seed=seed)
        assert first.first
        result = step(pong, DOWN)
        assert (result.elapsed, result.truncated) == (1, False)


def test_frame_skip_is_so_many_frames_and_their_rewards(address: str) -> None:
    with Core(POLE, address, clock="lockstep") as core:
        begin(core, seed=2)
        for _ in range(4):
            step(core, 1)
        expected = core.picture(0)
    with Core(POLE, address, clock="lockstep", frame_skip=4) as core:
        begin(core, seed=2)
        assert step(core, 1).reward == 4
        assert np.array_equal(core.picture(0), expected)
        while not core.result(0).terminated:
            step(core, 1)
        assert core.result(0).reward in (1, 2, 3, 4)


def test_limit_of_steps_truncates_and_a_joining_reset_begins_anew(address: str) -> None:
    with Core(LAKE, address, clock="lockstep", max_episode_steps=2) as core:
        begin(core, seed=1)
        assert not step(core, 0).truncated
        last = step(core, 0)
        assert (last.truncated, last.terminated, last.lost) == (True, False, False)
        assert core.phase(0) is Phase.ENDED
        assert begin(core, join=True).episode_id == (last.episode_id or 0) + 1


@pytest.fixture(scope="module")
def xvnc() -> Generator[str]:
    """A lossless server that says when a frame is whole."""
    with on_machine("--display-backend", "xvnc") as remote:
        yield remote.address


@pytest.mark.parametrize(
    "options",
    [PictureOptions(crop=(10, 30, 100, 160), size=(42, 33)), PictureOptions(crop=(10, 30, 100, 160), grey=True)],
)
def test_picture_is_the_one_of_real_time(options: PictureOptions, xvnc: str) -> None:
    # A picture that stands still until a key is pressed.
    vnc = VncOptions(quality=None)
    pictures: list[Pixels] = []
    for clock in ("lockstep", "realtime"):
        with Core(LAKE, xvnc, clock=clock, pictures=options, vnc=vnc) as core:
            begin(core, seed=3)
            assert core.picture(0).shape == core.pictures.shape
            pictures.append(np.array(core.picture(0)))
    assert np.array_equal(pictures[0], pictures[1])


def asks_nothing(view: View) -> dict[str, str]:
    return {}


@pytest.mark.parametrize("slots", [1, 2])
def test_remote_makes_the_pictures_and_one_that_makes_none_sends_whole_ones(
    slots: int, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = PictureOptions(crop=(10, 30, 100, 160), size=(42, 33), grey=True)
    films: list[list[Pixels]] = []
    for views in (True, False):
        if not views:
            # As an older remote takes what is asked of it.
            monkeypatch.setattr(View, "query", asks_nothing)
        taken: list[tuple[int, ...]] = []
        arrived = rewarder_step_channel.Arrived

        def note(*given: Any, taken: list[tuple[int, ...]] = taken, arrived: Any = arrived) -> Any:
            made = arrived(*given)
            taken.append(made.result.vision.shape)
            return made

        monkeypatch.setattr(rewarder_step_channel, "Arrived", note)
        with Core(PONG, address, clock="lockstep", pictures=options, slots=slots) as core:
            begin(core, slots - 1, seed=3)
            seen = [np.array(core.picture(slots - 1))]
            for action in (UP, UP, DOWN, FIRE) * 5:
                step(core, action, slots - 1)
                seen.append(np.array(core.picture(slots - 1)))
            with pytest.raises(Misuse, match="no whole screens"):
                core.screen(slots - 1)
        monkeypatch.undo()
        assert set(taken) == {(42, 33, 1) if views else (210, 160, 3)}
        films.append(seen)
    for made_there, made_here in zip(*films, strict=True):
        assert made_there.shape == (42, 33, 1)
        assert np.array_equal(made_there, made_here)


def test_whole_screens_come_whole_whatever_the_pictures_are(address: str) -> None:
    options = PictureOptions(size=(42, 33), grey=True)
    with Core(PONG, address, clock="lockstep", pictures=options, whole_screens=True) as core:
        begin(core, seed=1)
        moment = core.snapshot(0)
        x, y, width, height = core.pictures.box
        assert core.screen(0)[y : y + height, x : x + width].shape == core.result(0).picture.shape == (210, 160, 3)
        assert core.picture(0).shape == (42, 33, 1)
        step(core, UP)
        core.restore(0, moment)
        core.receive(1)
        assert not core.result(0).lost


def test_screen_has_the_picture_in_its_place_and_is_black_around_it(pong: Core) -> None:
    begin(pong, seed=1)
    screen = pong.screen(0)
    assert screen.shape == (pong.described.height, pong.described.width, 3)
    x, y, width, height = pong.pictures.box
    assert np.array_equal(screen[y : y + height, x : x + width], pong.picture(0))
    assert screen.astype(int).sum() == pong.picture(0).astype(int).sum()


def test_text_and_numbers_and_lives_come_with_the_frames(address: str) -> None:
    with Core("gym-core.MiniGrid-DoorKey-5x5-v0", address, clock="lockstep") as core:
        mission = begin(core, seed=1).text
        assert mission
        assert step(core, 0).text == mission
    with Core("gym-core.CartPoleLowD-v0", address, clock="lockstep") as core:
        before = begin(core, seed=1).observation
        assert len(before) == 4
        assert step(core, 0).observation != before
    with Core(BREAKOUT, address, clock="lockstep", frame_skip=4) as core:
        assert begin(core, seed=1).lives == 5
        while core.result(0).lives == 5:
            step(core, FIRE)
        assert core.result(0).lives == 4


def test_several_environments_answer_each_on_its_own(pong: Core) -> None:
    for index in range(2):
        pong.reset(index, seed=index)
    assert sorted(pong.receive(2)) == [0, 1]
    pong.send({0: UP, 1: DOWN})
    pong.reset(0)
    answered = pong.receive(1) + pong.receive(1)
    assert sorted(answered) == [0, 1]
    assert pong.result(0).first
    assert pong.result(1).elapsed == 1
    # One goes on while the other is left alone.
    for _ in range(50):
        step(pong, UP, index=1)
    assert pong.result(1).elapsed == 51


def program_of(core: Core) -> psutil.Process:
    """The program of the first remote, which draws and steps."""
    port = str(core.env.addresses[0].rewarder_port)
    daemon = next(
        each
        for each in psutil.Process().children(recursive=True)
        if "pluriverse_server" in each.cmdline() and port in each.cmdline()
    )
    return next(each for each in daemon.children(recursive=True) if "main.py" in each.cmdline())


def test_remote_that_is_killed_in_the_middle_of_a_step_truncates_it_and_the_next_reset_has_another() -> None:
    with Core(PONG, "local:2", clock="lockstep") as core:
        begin(core, 0, seed=1)
        begin(core, 1, seed=1)
        # A step that can't be over before the remote is.
        os.kill(program_of(core).pid, signal.SIGSTOP)
        core.send({0: UP})
        step(core, UP, index=1)
        daemon_at(core.env.addresses[0]).kill()
        assert core.receive(1) == [0]
        result = core.result(0)
        assert (result.truncated, result.terminated, result.lost) == (True, False, True)
        assert "broke" in (result.error or "")
        with pytest.raises(ResetNeeded, match="is over"):
            core.send({0: 0})
        core.reset(0, seed=1)
        # The other goes on meanwhile.
        core.send({1: DOWN})
        assert core.receive(1) == [1]
        assert core.receive(1) == [0]
        assert core.result(0).first
        assert not step(core, UP).lost


def test_program_that_dies_while_the_agent_thinks_is_noticed_by_the_next_step(address: str) -> None:
    with Core(PONG, address, clock="lockstep") as core:
        begin(core, seed=1)
        program = program_of(core)
        program.kill()
        psutil.wait_procs([program], 10)
        assert step(core, UP).lost
        begin(core, seed=1)
        assert not step(core, UP).lost


def test_episode_that_ends_before_its_agent_looks_is_begun_again_and_not_taken_for_the_one_after_it(
    address: str,
) -> None:
    with Core(POLE, address, clock="lockstep") as core:
        wanted = begin(core, seed=1).picture.copy()
        before = begin(core, seed=2).episode_id or 0
        connection = core.env.require().by_index[0]
        assert connection is not None
        core.reset(0, 1)
        rewarder = connection.rewarder
        until(lambda: rewarder.peek().peek == (before + 1, RUNNING))
        program_of(core).kill()
        until(lambda: rewarder.peek().peek == (before + 2, RUNNING))
        assert core.receive(1) == [0]
        assert core.result(0).episode_id == before + 3
        assert np.array_equal(core.result(0).picture, wanted)


def test_step_of_a_program_that_hangs_is_given_up_and_the_next_episode_is_fine(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lockstep, "STEP_S", 0.5)
    with Core(PONG, address, clock="lockstep") as core:
        begin(core, seed=1)
        program = program_of(core)
        program.suspend()
        result = step(core, UP)
        assert (result.truncated, result.lost) == (True, True)
        assert "no answer to a step within 0.5 s" in (result.error or "")
        program.resume()
        begin(core, seed=1)
        assert core.phase(0) is Phase.READY


@pytest.mark.slow
def test_remote_that_dies_during_a_reset_is_replaced_and_the_reset_answered() -> None:
    with Core(PONG, "local:1", clock="lockstep") as core:
        begin(core, seed=1)
        os.kill(program_of(core).pid, signal.SIGSTOP)
        core.reset(0, seed=2)
        daemon_at(core.env.addresses[0]).kill()
        assert core.receive(1) == [0]
        assert core.result(0).first
        assert not step(core, UP).lost


def test_close_leaves_nothing_behind_and_calls_after_it_say_so() -> None:
    leftovers = Leftovers()
    core = Core(PONG, "local:1", clock="lockstep")
    begin(core)
    core.send({0: UP})
    core.close()
    core.close()
    for call in (lambda: core.send({0: 1}), lambda: core.reset(0), lambda: core.receive(1), lambda: core.screen(0)):
        with pytest.raises(Closed):
            call()
    leftovers.assert_none()


def test_environment_without_lockstep_says_so(tmp_path: Path) -> None:
    # Pages that may go elsewhere take the time that others take.
    shutil.copytree(ROOT / "runtimes" / "internet", tmp_path / "internet")
    manifest = tmp_path / "internet" / "runtime.toml"
    manifest.write_text(manifest.read_text().replace("[page]", '[page]\norigins = ["https://example.org"]'))
    with on_machine(runtime=str(manifest.parent)) as remote:
        address = remote.address
        with pytest.raises(ConfigurationError, match=r"internet\.2048-v0 supports real time only"):
            Core("internet.2048-v0", address, clock="lockstep")


@pytest.fixture
def crowd(address: str) -> Generator[Core]:
    with Core(PONG, address, clock="lockstep", slots=4) as core:
        yield core


def test_each_slot_plays_as_a_remote_of_its_own_would(crowd: Core, pong: Core) -> None:
    assert (crowd.n, crowd.env.n) == (4, 1)
    actions = np.random.default_rng(5).integers(0, 6, 30).tolist()
    expected = films(pong, 3, actions)
    for index in range(4):
        crowd.reset(index, 3)
    assert sorted(crowd.receive(4)) == [0, 1, 2, 3]
    seen = {index: [crowd.picture(index).tobytes()] for index in range(4)}
    for action in actions:
        crowd.send(dict.fromkeys(range(4), action))
        for index in crowd.receive(4):
            seen[index].append(crowd.picture(index).tobytes())
    assert all(each == [picture for picture, _, _ in expected] for each in seen.values())


def test_slots_whose_process_dies_are_lost_alone_and_come_back(crowd: Core) -> None:
    for index in range(4):
        begin(crowd, index, seed=index)
    (program,) = [each for each in psutil.Process().children(recursive=True) if _plays_slots(each)]
    victims = program.children()
    for process in victims:
        process.kill()
    crowd.send(dict.fromkeys(range(4), UP))
    crowd.receive(4)
    assert [crowd.result(index).lost for index in range(4)] == [False, True, True, True]
    for index in range(1, 4):
        assert begin(crowd, index, seed=index).first
        assert not step(crowd, UP, index).lost


def _plays_slots(process: psutil.Process) -> bool:
    return "main.py" in process.cmdline() and any("main.py" in each.cmdline() for each in process.children())
