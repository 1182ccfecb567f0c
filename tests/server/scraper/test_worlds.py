"""Moments of programs that nobody prepared: kept, gone back to in any order, and the same to the pixel each time."""

import asyncio
import contextlib
import os
import random
import shutil
import subprocess
import zlib
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from pluriverse_protocol.events import KeyEvent
from pluriverse_protocol.kinds import Handle
from pluriverse_protocol.messages import AgentRestore, RestoreReply
from pluriverse_protocol.reports import Done
from pluriverse_server.scraper.worlds import TEMPLATE_NAME
from support.process_tree import children
from support.scraped import Scraped
from support.scraped_steps import Agent, begun, game_of, key, stepping
from support.step_channels import Heard
from support.waiting import eventually

pytestmark = pytest.mark.display

LOCKSTEP = {"clock": ["realtime", "lockstep"]}

# It has none of the tiny runtime's signs: an episode is ready as soon as there is a window.
ANY_WINDOW: dict[str, Any] = {"episode": {"ready": "playing >= 0"}, "rewards": []}


async def played(
    agent: Agent, frames: int, presses: Callable[[int], Sequence[KeyEvent]] = lambda _: ()
) -> list[tuple[int, float]]:
    """Play so many frames; return a checksum of each picture, and what it earned."""
    seen: list[tuple[int, float]] = []
    for number in range(frames):
        reply, pixels = await agent.play(*presses(number))
        seen.append((zlib.crc32(pixels.tobytes()), reply.reward))
    return seen


async def kept(scraped: Scraped) -> tuple[Agent, Handle, list[tuple[int, float]]]:
    """Begin an episode and keep its first moment; return what follows on it, too."""
    agent = await begun(scraped, seed=7)
    await agent.first()
    moment = await agent.snapshot()
    assert moment is not None
    return agent, moment, await played(agent, 10)


def templates_of(scraped: Scraped) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for child in psutil.Process(scraped.program.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.name() == TEMPLATE_NAME and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child)
    return found


def runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def presses_right(number: int) -> Sequence[KeyEvent]:
    return key("Right") if number % 7 == 2 else ()


@contextlib.contextmanager
def limited(process: psutil.Process, limit: int, most: int) -> Generator[None]:
    """What a process may have of something, for a while."""
    before = process.rlimit(limit)
    process.rlimit(limit, (most, before[1]))
    yield
    process.rlimit(limit, before)


def compiled(source: Path, to: Path, *flags: str) -> Path:
    subprocess.run(["gcc", "-O1", "-w", "-pthread", *flags, str(source), "-o", str(to)], check=True)
    return to


@contextlib.asynccontextmanager
async def drawing_later(folder: Path) -> AsyncGenerator[Scraped]:
    """A program whose start is the same each time, and that draws by chance once it has scored."""
    async with stepping(folder, program={**LOCKSTEP, "same_start": True}) as scraped:
        game = folder / "runtime" / "game.py"
        text = game.read_text().replace("random.Random()", "random.SystemRandom()")
        game.write_text(text.replace("        fill(chance", "        score and fill(chance"))
        yield scraped


async def test_what_follows_on_a_snapshot_is_the_same_each_time(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped)
        await agent.first()
        await played(agent, 5, presses_right)
        moment = await agent.snapshot()
        assert moment is not None
        first = await played(agent, 30, presses_right)
        assert len({picture for picture, _ in first}) > 25
        assert sum(reward for _, reward in first) == pytest.approx(4)
        for _ in range(3):
            await agent.restore(moment)
            assert await played(agent, 30, presses_right) == first


async def test_keys_that_were_held_still_are(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        game = tmp_path / "runtime" / "game.py"
        held = "bytes(display.query_keymap())[display.keysym_to_keycode(0x61) // 8]"
        game.write_text(
            game.read_text().replace(
                "        drawn += 1\n", f"        fill(40, 0, 20, 20, {held} and 0xFFFFFF)\n        drawn += 1\n"
            )
        )
        agent = await begun(scraped)
        await agent.first()
        await agent.play(KeyEvent(ord("a"), True), frames=2)
        moment = await agent.snapshot()
        assert moment is not None
        first = await played(agent, 10, lambda number: [KeyEvent(ord("a"), False)] if number == 5 else ())
        await agent.restore(moment)
        assert await played(agent, 10, lambda number: [KeyEvent(ord("a"), False)] if number == 5 else ()) == first
        await agent.restore(moment)
        assert await played(agent, 10) != first


@pytest.mark.nightly
async def test_thread_that_spins_goes_back_to_where_it_spun(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        source, library = tmp_path / "spin.c", tmp_path / "spin.so"
        source.write_text("volatile int wanted, done; void spin() { for (;;) { while (done == wanted); done++; } }")
        compiled(source, library, "-shared", "-fPIC")
        game = tmp_path / "runtime" / "game.py"
        thread = f"""
        import ctypes, threading
        library = ctypes.CDLL("{library}")
        if not ctypes.c_int.in_dll(library, "wanted").value:
            threading.Thread(target=library.spin, daemon=True).start()
        ctypes.c_int.in_dll(library, "wanted").value += 1
        fill(60, 0, 20, 20, 7919 * ctypes.c_int.in_dll(library, "done").value)
        drawn += 1
"""
        game.write_text(game.read_text().replace("        drawn += 1\n", thread))
        agent = await begun(scraped)
        await agent.first()
        moment = await agent.snapshot()
        assert moment is not None
        first = await played(agent, 3)
        for _ in range(2):
            await agent.restore(moment)
            assert await played(agent, 3) == first


async def test_home_goes_back_with_the_program(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        game = tmp_path / "runtime" / "game.py"
        counted = """
        with open(os.path.expanduser("~/counted"), "a+") as file:
            file.write("x")
            file.seek(0)
            fill(60, 0, 20, 20, 7919 * len(file.read()))
        drawn += 1
"""
        game.write_text(game.read_text().replace("        drawn += 1\n", counted))
        agent = await begun(scraped)
        await agent.first()
        moment = await agent.snapshot()
        assert moment is not None
        (home,) = scraped.homes()
        before = (home / "counted").read_text()
        first = await played(agent, 10)
        (home / "new").write_text("is gone")
        assert (home / "counted").read_text() > before
        await agent.restore(moment)
        assert (home / "counted").read_text() == before
        assert not (home / "new").exists()
        # From the third time on, a world beside is there already, with a HOME of its own.
        for _ in range(5):
            assert await played(agent, 10) == first
            await agent.restore(moment)


async def test_files_that_have_no_name_any_more_come_back_where_they_were_read_to(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        game = tmp_path / "runtime" / "game.py"
        opened = "gone = os.path.expanduser('~/gone')\nopen(gone, 'wb').write(bytes(range(256)) * 4)\n"
        opened += "gone_file = open(gone, 'rb', buffering=0)\nos.unlink(gone)\n"
        text = game.read_text().replace("window.map()\n", f"window.map()\n{opened}")
        game.write_text(
            text.replace(
                "        drawn += 1\n", "        fill(40, 0, 9, 9, gone_file.read(1)[0])\n        drawn += 1\n"
            )
        )
        agent, moment, first = await kept(scraped)
        await agent.restore(moment)
        assert await played(agent, 10) == first


# In HOME and outside: one in the middle, and one to whose end the kernel has told of it already.
READS_FOLDERS = """import zlib
folders = []
for folder in ("many", os.path.expanduser("~/many"), os.path.expanduser("~/few")):
    os.mkdir(folder)
    for number in range(4 if folder.endswith("few") else 400):
        open(f"{folder}/{number:0200}", "w").close()
    folders.append(os.scandir(folder))
    next(folders[-1])
"""


async def test_folders_that_are_being_read_are_read_on_and_by_each_world_for_itself(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        game = tmp_path / "runtime" / "game.py"
        text = game.read_text().replace("window.map()\n", f"window.map()\n{READS_FOLDERS}")
        reads = "        seen = [[entry.name for entry, _ in zip(folder, range(20))] for folder in folders]\n"
        reads += "        fill(40, 0, 9, 9, zlib.crc32(repr(seen).encode()) & 0xFFFFFF)\n        drawn += 1\n"
        game.write_text(text.replace("        drawn += 1\n", reads))
        agent, moment, first = await kept(scraped)
        beside = Agent(scraped, slot=1)
        await beside.begin(seed=7)
        for each in (agent, beside):
            await each.restore(moment)
        for expected in first:
            assert await played(agent, 1) == await played(beside, 1) == [expected]
        beside.close()


async def test_line_that_is_being_typed_in_a_terminal_is_kept_and_stays(tmp_path: Path) -> None:
    command = ["xterm", "-e", "sh", "-c", 'read line; printf "%s" "$line" >~/line; sleep 60']
    async with stepping(tmp_path, program={**LOCKSTEP, "command": command}, **ANY_WINDOW) as scraped:
        agent = await begun(scraped)
        await agent.first()
        await played(agent, 10)
        await agent.play(*key("a"))
        await played(agent, 10)
        moment = await agent.snapshot()
        assert moment is not None
        pictures: list[list[tuple[int, float]]] = []
        for _ in range(3):
            await agent.play(*key("b"))
            await agent.play(*key("Return"))
            pictures.append(await played(agent, 10))
            assert "ab" in [line.read_text() for home in scraped.homes() for line in home.glob("line")]
            await agent.restore(moment)
        assert len(set(map(tuple, pictures))) == 1


async def test_reset_with_a_seed_that_was_begun_before_goes_back_to_its_beginning(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped, seed=7)
        first = [zlib.crc32((await agent.first()).pixels.tobytes())], await played(agent, 20)
        for seed, homes in ((7, 1), (8, 2), (7, 2), (8, 2)):
            await scraped.ready(seed=seed, clock="lockstep")
            again = [zlib.crc32((await agent.first()).pixels.tobytes())], await played(agent, 20)
            assert (again == first) == (seed == 7)
            # The other's program is set aside.
            assert len(scraped.homes()) == homes


async def test_program_with_the_same_start_starts_once_and_draws_by_each_episodes_seed(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async def begins(scraped: Scraped, agent: Agent, seed: int) -> list[tuple[int, float]]:
        await scraped.ready(seed=seed, clock="lockstep")
        return await follows(agent, await agent.first())

    async def follows(agent: Agent, first: Heard) -> list[tuple[int, float]]:
        return [(zlib.crc32(first.pixels.tobytes()), 0.0), *await played(agent, 20, presses_right)]

    async with drawing_later(tmp_path) as scraped:
        agent = await begun(scraped, seed=7)
        first = await follows(agent, await agent.first())
        other = await begins(scraped, agent, 8)
        assert other[0] == first[0]
        assert other != first
        assert len(scraped.homes()) == 1
        assert await begins(scraped, agent, 7) == first
        assert len(children("scraper.keeper")) == 1
        beside = Agent(scraped, 1)
        assert await follows(beside, await beside.begin(8)) == other
        beside.close()
    async with drawing_later(tmp_path_factory.mktemp("another")) as scraped:
        agent = await begun(scraped, seed=8)
        assert await follows(agent, await agent.first()) == other


async def test_snapshot_of_an_episode_is_gone_back_to_in_another_and_after_the_programs_end(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped, seed=7)
        await agent.first()
        await played(agent, 3)
        moment = await agent.snapshot()
        assert moment is not None
        first = await played(agent, 10)
        reply, _ = await agent.play(*key("q"), frames=5)
        assert reply.truncated
        episode = await scraped.ready(seed=8, clock="lockstep")
        await agent.first()
        await agent.restore(moment)
        assert await played(agent, 10) == first
        # Its end is that of the episode that is played now.
        assert (await agent.play(*key("x"), frames=5))[0].terminated
        assert await scraped.until(Done, lambda done: done.episode == episode)


async def test_dropped_snapshots_leave_no_process_and_those_of_an_agent_end_with_it(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped)
        await agent.first()
        at_first = len(templates_of(scraped))
        kept = [await agent.snapshot() for _ in range(3)]
        assert None not in kept
        assert len(templates_of(scraped)) == at_first + 3 * 2
        await agent.snapshot(*[handle for handle in kept if handle is not None])
        await eventually(lambda: len(templates_of(scraped)) == at_first + 2)
        agent.close()
        await eventually(lambda: len(templates_of(scraped)) == at_first)


async def test_nothing_outlives_a_scraper_that_is_killed_with_all_its_snapshots(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped)
        await agent.first()
        moments = [await agent.snapshot() for _ in range(100)]
        assert moments[0] is not None
        await agent.restore(moments[0])
        scraper = psutil.Process(scraped.program.pid)
        descendants = scraper.children(recursive=True)
        assert len(descendants) > 200
        scraper.kill()
        await eventually(lambda: not any(runs(each) for each in descendants))
        for left in (tmp_path / "private").glob("program/*/Xauthority"):
            left.unlink()
            left.parent.rmdir()


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("import subprocess\nsubprocess.Popen(['env', '-u', 'LD_PRELOAD', 'sleep', '60'])\n", "clock"),
        ("import ctypes\nlibc = ctypes.CDLL(None)\nlibc.shmat(libc.shmget(0, 1 << 16, 0o600), None, 0)\n", "number"),
    ],
)
async def test_what_cant_be_kept_is_played_again_and_says_why(does: str, why: str, tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        game = tmp_path / "runtime" / "game.py"
        game.write_text(does + game.read_text())
        agent = await begun(scraped)
        await agent.first()
        await agent.play()
        assert await agent.snapshot() is None
        reply, _ = await agent.play()
        assert why in reply.info.get("snapshot", ""), reply.info


async def test_memory_that_is_mapped_to_be_read_is_that_of_the_own_world_and_what_has_no_other_end_is_kept(
    tmp_path: Path,
) -> None:
    shared = """
import ctypes, socket
alone, other = socket.socketpair()
other.close()
hears = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)
hears.bind((0, 0))
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(0, 4096, 0o600)
to, read = (ctypes.c_long.from_address(libc.shmat(segment, None, how)) for how in (0, 0o10000))
libc.shmctl(segment, 0, None)
"""
    async with stepping(tmp_path) as scraped:
        game = tmp_path / "runtime" / "game.py"
        text = game.read_text().replace(
            "drawn += 1", "drawn += 1; to.value = drawn; fill(0, 180, read.value + len(alone.recv(1)), 5, 1)"
        )
        game.write_text(shared + text)
        agent = await begun(scraped)
        await agent.first()
        moment = await agent.snapshot()
        assert moment is not None
        first = await played(agent, 30)
        await agent.restore(moment)
        assert await played(agent, 30) == first


async def test_threads_children_timers_and_files_come_back_in_any_order(tmp_path: Path) -> None:
    torture = compiled(Path(__file__).with_name("torture.c"), tmp_path / "torture")
    shell = f'cd "$HOME" && exec {torture}'
    command = ["xterm", "-b", "0", "-bw", "0", "+sb", "-geometry", "53x15+0+0", "-e", "sh", "-c", shell]
    chance = random.Random(35)
    async with stepping(tmp_path, program={**LOCKSTEP, "command": command}, **ANY_WINDOW) as scraped:
        agent = await begun(scraped)
        await agent.first()
        await played(agent, 30)
        follows: list[tuple[Handle, list[tuple[int, float]]]] = []
        for _ in range(6):
            moment = await agent.snapshot()
            reply, _ = await agent.play()
            assert moment is not None, reply.info
            await agent.restore(moment)
            follows.append((moment, await played(agent, 60)))
            await played(agent, chance.randrange(20))
            await agent.restore(follows[-1][0])
            await played(agent, chance.randrange(30, 90))
        beside = Agent(scraped, slot=1)
        await beside.begin(seed=7)
        for each in (agent, beside):
            chance.shuffle(follows)
            for moment, expected in follows:
                await each.restore(moment)
                assert await played(each, 60) == expected
        beside.close()


async def test_worlds_go_on_beside_each_other_and_a_moment_of_one_is_gone_to_in_another(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped, seed=7)
        first = [zlib.crc32((await agent.first()).pixels.tobytes())], await played(agent, 20)
        copies = [Agent(scraped, slot) for slot in (1, 2, 3)]
        for copy, seed in zip(copies, (7, 8, 7), strict=True):
            again = [zlib.crc32((await copy.begin(seed)).pixels.tobytes())], await played(copy, 20)
            assert (again == first) == (seed == 7)
        await played(copies[0], 10, presses_right)
        moment = await copies[0].snapshot()
        assert moment is not None
        follows = await played(copies[0], 30, presses_right)
        for each in (agent, *copies):
            await each.restore(moment)
        for number, (picture, reward) in enumerate(follows):
            for each in (agent, *copies):
                reply, pixels = await each.play(*presses_right(number))
                assert (zlib.crc32(pixels.tobytes()), reply.reward) == (picture, reward)
        for each in copies:
            each.close()


async def test_worlds_that_go_to_each_others_moments_have_no_more_open_with_time(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        game = tmp_path / "runtime" / "game.py"
        game.write_text("import mmap\nshared = mmap.mmap(-1, 4096)\n" + game.read_text())
        agent = await begun(scraped)
        await agent.first()
        moment, copy, scraper = await agent.snapshot(), Agent(scraped, 1), psutil.Process(scraped.program.pid)
        assert moment is not None
        await copy.restore(moment)
        opened: list[int] = []
        for _ in range(10):
            for here, there in ((copy, agent), (agent, copy)):
                moment = await here.snapshot(moment)
                assert moment is not None, (await here.play())[0].info
                await there.restore(moment)
            opened.append(scraper.num_fds())
        # A world that is made ahead has some for a while.
        assert opened[-1] - opened[1] < len(opened) / 2
        copy.close()


async def test_a_world_that_hangs_dies_or_loses_its_home_leaves_the_others_alone(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent, moment, first = await kept(scraped)
        (own_home,) = scraped.homes()
        hung, dead, lost = copies = [Agent(scraped, slot) for slot in (1, 2, 3)]
        for copy in copies:
            await copy.restore(moment)
        hung.step(1, 5, key("y"))
        reply, _ = await dead.play(*key("q"), frames=5)
        assert reply.info["reason"] == "the program ended: exit status 7; it printed last: that was all"
        for home in set(scraped.homes()) - {own_home}:
            shutil.rmtree(home)
        # What was lost is made anew.
        await asyncio.gather(lost.restore(moment), agent.restore(moment))
        assert await played(lost, 10) == await played(agent, 10) == first
        await dead.begin(7)
        await dead.restore(moment)
        assert await played(dead, 10) == first
        for copy in copies:
            copy.close()


async def test_world_that_there_are_no_descriptors_for_is_refused_and_the_others_go_on(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent, moment, first = await kept(scraped)
        copy = Agent(scraped, 1)
        await copy.restore(moment)
        scraper = psutil.Process(scraped.program.pid)
        with limited(scraper, psutil.RLIMIT_NOFILE, scraper.num_fds() + 3):
            copy.send(AgentRestore(moment), copy.episode)
            assert "Too many open files" in await asyncio.to_thread(copy.hear_error)
            assert len(await played(agent, 10)) == 10
        for each in (copy, agent):
            await each.restore(moment)
            assert await played(each, 10) == first
        copy.close()


async def test_restores_that_are_asked_for_in_the_middle_of_a_step_follow_it(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent, moment, first = await kept(scraped)
        agent.step(1, 50)
        for _ in range(2):
            agent.send(AgentRestore(moment), agent.episode)
        await asyncio.to_thread(agent.hear_step, 1)
        back, again = [(await asyncio.to_thread(agent.hear)) for _ in range(2)]
        assert isinstance(back.message, RestoreReply)
        assert back.message == again.message
        assert await played(agent, 10) == first


async def test_home_that_a_full_disk_has_no_room_for_is_lost_with_its_world_alone(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped, seed=7)
        await agent.first()
        (home,) = scraped.homes()
        saved = home / "saved"
        saved.write_bytes(bytes(8 << 20))
        moment = await agent.snapshot()
        assert moment is not None
        first = await played(agent, 10)
        copy = Agent(scraped, 1)
        await copy.restore(moment)
        (beside,) = set(scraped.homes()) - {home}
        (beside / "saved").unlink()
        with limited(psutil.Process(scraped.program.pid), psutil.RLIMIT_FSIZE, 4 << 20):
            copy.send(AgentRestore(moment), copy.episode)
            assert "File too large" in await asyncio.to_thread(copy.hear_error)
            assert len(await played(agent, 10)) == 10
        for each in (copy, agent):
            await each.restore(moment)
            assert await played(each, 10) == first
        copy.close()


@contextlib.contextmanager
def no_room_to_fork(*processes: psutil.Process) -> Generator[None]:
    """Have them fork nothing meanwhile, as where a container has as many processes as it may."""
    if os.geteuid():
        before = [process.rlimit(psutil.RLIMIT_NPROC) for process in processes]
        for process, (_, most) in zip(processes, before, strict=True):
            process.rlimit(psutil.RLIMIT_NPROC, (1, most))
        yield
        for process, limits in zip(processes, before, strict=True):
            process.rlimit(psutil.RLIMIT_NPROC, limits)
        return
    # No such limit holds for root, but that of a group does.
    first = Path("/sys/fs/cgroup/pids")
    top = first if first.exists() else first.parent
    group = top / f"pluriverse-{processes[0].pid}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("root may make no group of processes here")
    try:
        (group / "pids.max").write_text("0")
        for process in processes:
            (group / "cgroup.procs").write_text(str(process.pid))
        yield
    finally:
        for process in processes:
            (top / "cgroup.procs").write_text(str(process.pid))
        group.rmdir()


async def test_world_that_there_are_no_processes_for_is_refused_and_the_others_go_on(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent, moment, first = await kept(scraped)
        with no_room_to_fork(game_of(scraped)):
            assert await agent.snapshot() is None
            reply, _ = await agent.play()
        assert "can't be forked: Resource temporarily unavailable" in reply.info["snapshot"]
        copy = Agent(scraped, 1)
        with no_room_to_fork(*templates_of(scraped)):
            copy.send(AgentRestore(moment), copy.episode)
            assert "can't be forked: Resource temporarily unavailable" in await asyncio.to_thread(copy.hear_error)
            assert len(await played(agent, 10)) == 10
        for each in (copy, agent):
            await each.restore(moment)
            assert await played(each, 10) == first
        copy.close()


async def test_snapshot_whose_template_is_gone_is_refused_and_the_next_episode_begins(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped, seed=7)
        await agent.first()
        before = templates_of(scraped)
        moment = await agent.snapshot()
        assert moment is not None
        for template in set(templates_of(scraped)) - set(before):
            template.kill()
        agent.send(AgentRestore(moment), agent.episode)
        assert "a template has ended" in await asyncio.to_thread(agent.hear_error)
        await scraped.ready(seed=8, clock="lockstep")
        await agent.first()
        assert len(await played(agent, 3)) == 3
