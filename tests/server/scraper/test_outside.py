"""What programs have of their own in the place of what is outside, and what their ends say that they were refused."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from pluriverse_protocol.reports import Done
from pluriverse_server import confine
from pluriverse_server.scraper.outside import LIBRARY, refused
from support.scraped import scraping
from support.scraped_steps import COUNTER, Agent, begun, key, stepping

from .test_worlds import played

# A child counts who asks, by TCP and by UDP, and the program draws what it is told.
ASKS_ITSELF = COUNTER.replace(
    "chance = random.Random()",
    """import select, socket
child = os.fork()
if not child:
    listening = socket.create_server(("127.0.0.1", 8303))
    datagrams = socket.socket(type=socket.SOCK_DGRAM)
    datagrams.bind(("0.0.0.0", 8303))
    asked = 0
    while True:
        for heard in select.select([listening, datagrams], [], [])[0]:
            asked += 1
            if heard is listening:
                connection, (host, _) = listening.accept()
                connection.sendall(connection.recv(9) + bytes([asked % 256, host == "127.0.0.1"]))
                connection.close()
            else:
                word, asker = datagrams.recvfrom(9)
                datagrams.sendto(word + bytes([asked % 256, asker[0] == "127.0.0.1"]), asker)
asking = socket.socket(type=socket.SOCK_DGRAM)
time.sleep(0.2)
chance = random.Random()""",
).replace(
    "        drawn += 1\n",
    """        drawn += 1
        with socket.create_connection(("localhost", 8303)) as connection:
            connection.sendall(b"hello")
            told = connection.recv(9)
        asking.sendto(b"hello", ("127.0.0.1", 8303))
        told += asking.recv(9)
        assert told == b"hello%c\\1hello%c\\1" % (told[5], told[5] + 1 & 255), told
        fill(100, 0, 20, 20, told[5] * 65793)
""",
)

TRIES = """
import socket, sys
with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
    port = server.getsockname()[1]
    for host, seen in (("127.0.0.1", "::ffff:127.0.0.1"), ("::1", "::1"), ("localhost", "::ffff:127.0.0.1")):
        with socket.create_connection((host, port)) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection, address = server.accept()
            assert address[0] == seen, address
            assert client.getpeername()[1] == port
            assert connection.getpeername()[1] == client.getsockname()[1]
# A port that was left is had again, and another one isn't twice.
with socket.create_server(("127.0.0.1", port)), socket.socket() as other:
    try:
        other.bind(("127.0.0.1", port))
    except OSError as error:
        print(error.strerror)
# Datagrams to nobody, and more than have room, are lost.
with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as two:
    two.bind(("", 9))
    assert one.sendto(b"1", ("127.0.0.1", 10)) == 1
    assert {one.sendto(b"1", ("127.0.0.1", 9)) for _ in range(1000)} == {1}
for host, port in (("127.0.0.1", int(sys.argv[1])), ("192.0.2.1", 80)):
    try:
        socket.create_connection((host, port))
    except OSError as error:
        print(error.strerror)
"""


def tried(home: Path, *arguments: str, network: str = confine.NONE) -> list[str]:
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "XDG_RUNTIME_DIR": str(home / ".run")}
    command = [sys.executable, "-I", "-S", confine.__file__, network, *arguments]
    return subprocess.run(
        command, cwd=home, env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=60
    ).stdout.splitlines()


@pytest.fixture(autouse=True)
def runtime_folder(tmp_path: Path) -> Path:
    (tmp_path / ".run").mkdir()
    return tmp_path / ".run"


def test_internet_of_a_program_without_one_is_the_program_itself(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as others:
        said = tried(tmp_path, sys.executable, "-c", TRIES, str(others.getsockname()[1]))
    assert said == ["Address already in use", "Connection refused", "Network is unreachable"]
    assert refused(tmp_path) == "; it asked for 192.0.2.1:80 and was refused: network = false"


def test_program_with_a_network_has_the_machines(tmp_path: Path) -> None:
    asks = "import socket, sys; print(socket.create_connection(('127.0.0.1', int(sys.argv[1]))).getpeername()[1])"
    with socket.create_server(("127.0.0.1", 0)) as others:
        port = str(others.getsockname()[1])
        assert tried(tmp_path, sys.executable, "-c", asks, port, network=confine.ALL) == [port]


NAMES = """
import grp, os, pwd, shutil, socket
print(socket.gethostname(), os.uname().nodename)
print(pwd.getpwuid(os.getuid()).pw_name, pwd.getpwnam("user").pw_uid == os.getuid(), grp.getgrgid(os.getgid()).gr_name)
print(*shutil.disk_usage("/"), shutil.disk_usage("/proc").total)
"""


def test_no_program_can_name_its_machine_and_its_user_or_see_how_full_a_disk_is(tmp_path: Path) -> None:
    said = tried(tmp_path, sys.executable, "-c", NAMES)
    assert said == ["computer computer", "user True user", f"{64 << 30} {32 << 30} {32 << 30} 0"]
    assert tried(tmp_path, "sh", "-c", "uname -n; id -un; stat -c %U-%G .run") == ["computer", "user", "user-user"]


@pytest.mark.display
async def test_program_that_asks_itself_is_exact_and_goes_on_in_worlds_side_by_side(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        (tmp_path / "runtime" / "game.py").write_text(ASKS_ITSELF)
        agent = await begun(scraped, seed=7)
        await agent.first()
        await played(agent, 20)
        moment = await agent.snapshot()
        assert moment is not None
        follows = await played(agent, 20)
        assert len(set(follows)) > 10
        copies = [Agent(scraped, slot) for slot in (1, 2)]
        for copy in copies:
            await copy.begin(7)
        for each in (agent, *copies):
            await each.restore(moment)
        for expected in follows:
            for each in (agent, *copies):
                assert await played(each, 1) == [expected]
        for each in copies:
            each.close()


ASKS_FOR = {
    "an address": (
        "socket.socket().connect_ex(('192.0.2.1', 80))",
        "it asked for 192.0.2.1:80 and was refused: network = false",
    ),
    "a bus": (
        "socket.socket(socket.AF_UNIX).connect_ex(os.environ['DBUS_SESSION_BUS_ADDRESS'].removeprefix('unix:path='))",
        "it looked for a session bus: dbus = true",
    ),
}


@pytest.mark.display
@pytest.mark.parametrize(("asks", "said"), ASKS_FOR.values(), ids=ASKS_FOR)
async def test_end_of_a_program_says_what_it_was_refused(asks: str, said: str) -> None:
    changed: dict[str, Any] = {"program": {"clock": ["realtime", "lockstep"]}}
    # A short name: paths of sockets are limited.
    with tempfile.TemporaryDirectory() as folder:
        game = Path(folder) / "runtime" / "game.py"
        async with scraping(Path(folder), **changed) as scraped:
            game.write_text(f"import os, socket\n{asks}\n{game.read_text()}")
            await scraped.ready()
            await scraped.press("q")
            assert (await scraped.until(Done)).reason == f"the program ended: exit status 7; {said}"
            game.write_text(f"import os, socket\n{asks}\n{COUNTER}")
            agent = await begun(scraped)
            await agent.first()
            reply, _ = await agent.play(*key("q"), frames=5)
            assert reply.info["reason"].endswith(f"; {said}"), reply.info


SHARES = """
import ctypes, os, signal, sys
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
number = libc.shmget(int(sys.argv[1]), 4096, 0o1600)
memory = libc.shmat(number, None, 0)
print(number, flush=True)
ctypes.memset(memory, 7, 1)
if not os.fork():
    libc.shmdt(ctypes.c_void_p(memory))
    print(ctypes.string_at(libc.shmat(number, None, 0), 1)[0], flush=True)
    os._exit(0)
os.wait()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_memory_that_a_killed_program_shared_is_gone_and_what_has_a_name_stays(tmp_path: Path) -> None:
    for name in (0, os.getpid()):
        number, content = tried(tmp_path, "sh", "-c", '"$@"; true', "sh", sys.executable, "-c", SHARES, str(name))
        numbers = [line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()]
        assert content == "7"
        assert (number in numbers) == (name != 0)
    subprocess.run(["ipcrm", "-m", number], check=True)


CHANGES = """
cat scores; mkdir /var/games/new; echo 6 >> /var/games/scores; mv /var/games/scores /var/games/new; cd /var/games
cat new/scores; ls /var/games; test -f /var/games/new/scores && echo there; rm /var/games/new/scores; ls new
"""


def test_games_files_of_a_program_are_its_own(tmp_path: Path, runtime_folder: Path) -> None:
    games = runtime_folder / "games"
    games.mkdir()
    (games / "scores").write_text("5\n")
    said = tried(tmp_path, "sh", "-ec", f"cd /var/games{CHANGES}")
    assert said == ["5", "5", "6", "new", "there"]
    assert [*games.rglob("*")] == [games / "new"]


SCORES = COUNTER.replace(
    "drawn = 0", "drawn = 0\nscores = open('/var/games/pluriverse-scores', 'a+', buffering=1)"
).replace(
    "        drawn += 1\n",
    """        drawn += 1
        scores.write("1\\n")
        scores.seek(0)
        fill(100, 0, 20, 20, len(scores.readlines()) * 65793)
""",
)


@pytest.mark.display
async def test_each_episode_and_world_has_the_same_games_files(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        (tmp_path / "runtime" / "game.py").write_text(SCORES)
        agent = await begun(scraped, seed=7)
        await agent.first()
        moment = await agent.snapshot()
        assert moment is not None
        follows = await played(agent, 10)
        beside = Agent(scraped, 1)
        await beside.begin(8)
        await beside.restore(moment)
        await agent.restore(moment)
        for expected in follows:
            assert await played(agent, 1) == await played(beside, 1) == [expected]
        beside.close()
        _, pixels = await agent.play()
        written = pixels[5, 105]
        agent = await begun(scraped, seed=9)
        await agent.first()
        _, pixels = await agent.play()
        assert (pixels[5, 105] < written).all()
    assert not os.access("/var/games/pluriverse-scores", os.F_OK)
