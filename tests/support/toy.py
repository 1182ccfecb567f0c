"""A runtime for tests: a real program in a real process that does what the test tells it, and says what it was told.

The program connects the report socket with a socket of the test's, line by line, so that the test is its mind: it reads
requests and writes reports, each at the moment that the test wants.
"""

import asyncio
import json
from pathlib import Path
from typing import Self

from pluriverse_protocol.reports import Ready, Report, Request, Reset, Watched, decode_request, encode_line

DEADLINE_S = 60.0

PROGRAM = """
import json, os, select, socket, sys
from pluriverse_protocol.step_channel import HANDOVER_BYTES

daemon, test = (socket.socket(socket.AF_UNIX) for _ in range(2))
daemon.connect(os.environ["PLURIVERSE_SOCKET"])
test.connect(sys.argv[1])
sources = [daemon, test]
if os.path.exists("step_channels"):
    step_channels = socket.socket(socket.AF_UNIX)
    step_channels.connect(os.environ["PLURIVERSE_STEP_CHANNEL"])
    sources.append(step_channels)
taken = []
test.sendall(json.dumps({"pid": os.getpid(), "argv": sys.argv}).encode() + b"\\n")
while True:
    for source in select.select(sources, [], [])[0]:
        if source in taken:
            # Binary frames of five bytes.
            if source.recv(65536):
                source.sendall(b"\\x82\\x05heard")
            source.close()
            taken.remove(source)
            sources.remove(source)
            continue
        if source not in (daemon, test):
            data, descriptors, _, _ = socket.recv_fds(source, HANDOVER_BYTES, 1)
            for step_channel in taken:
                step_channel.close()
                sources.remove(step_channel)
            taken = [socket.socket(fileno=descriptor) for descriptor in descriptors]
            for step_channel in taken:
                step_channel.setblocking(True)
                step_channel.sendall(b"\\x82\\x05taken")
            sources += taken
            continue
        data = source.recv(65536)
        if not data:
            sys.exit(0)
        (test if source is daemon else daemon).sendall(data)
"""

MANIFEST = """
[runtime]
id = "toy"
version = "1.2.3"
title = "A toy"
default_env = "toy.First-v0"
screen = {{ width = 320, height = 200 }}
fps = 50
metadata = {{ x = 300, y = 10, painted_by = "{painted_by}" }}
[program]
command = ["python", "program.py", "{mind}", "{{env}}", "{{seed}}"]
clock = {clock}
ready = {{ report = "ready", timeout_s = {ready_timeout_s} }}
frozen_after_s = {frozen_after_s}
[reset]
by = "{reset}"
[[rewards]]
source = "reports"
[[envs]]
id = "toy.First-v0"
[[envs]]
id = "toy.Second-v0"
fps = 20
spaces = {{ discrete = [{{ name = "wait", keys = [] }}, {{ name = "jump", keys = ["Up", "z"] }}], text = true }}
[[envs]]
id = "toy.Short-v0"
time_limit_s = 0.3
[[envs]]
id = "toy.Sync-v0"
sync = true
[[envs]]
id = "toy.Options-v0"
options = {{ level = {{ type = "integer", default = 1, maximum = 9 }}, hard = {{ type = "boolean", default = false }} }}
[[envs]]
id = "toy.Numbers-v0"
spaces = {{ observation = [2] }}
"""


class Process:
    """One running program: what it is told, and what it shall say."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pid: int, argv: list[str]) -> None:
        self.pid = pid
        self.argv = argv
        self._reader = reader
        self._writer = writer

    async def request(self) -> Request:
        line = await asyncio.wait_for(self._reader.readline(), DEADLINE_S)
        return decode_request(line)

    async def request_reset(self) -> Reset:
        """The daemon's next request that tells more than whether somebody watches, which must be a reset."""
        request = await self.request()
        while isinstance(request, Watched):
            request = await self.request()
        assert isinstance(request, Reset), request
        return request

    def report(self, *reports: Report) -> None:
        """Say this to the daemon, in one write."""
        self._writer.write(b"".join(map(encode_line, reports)))

    def say(self, line: bytes) -> None:
        self._writer.write(line)

    async def begin(self) -> Reset:
        """Take a reset and be ready at once."""
        reset = await self.request_reset()
        self.report(Ready(reset.episode))
        return reset


class Toy:
    """The runtime's folder, and the processes that its program runs in, one after the other."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._processes: asyncio.Queue[Process] = asyncio.Queue()
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []

    @classmethod
    async def make(
        cls,
        directory: Path,
        *,
        reset: str = "report",
        ready_timeout_s: float = 10.0,
        frozen_after_s: float = 5.0,
        clock: str = '["realtime"]',
        step_channels: bool = False,
        overlay: bool = False,
    ) -> Self:
        """Write the runtime into ``directory`` and wait for its programs to call.

        With ``step_channels`` they say that they have taken one, then that they heard something on it, and hang up. On
        an agent that has lost its seat they hang up at once.
        """
        toy = cls(directory)
        mind = directory / "mind.sock"
        (directory / "program.py").write_text(PROGRAM)
        if step_channels:
            (directory / "step_channels").touch()
        (directory / "runtime.toml").write_text(
            MANIFEST.format(
                mind=mind,
                reset=reset,
                ready_timeout_s=ready_timeout_s,
                frozen_after_s=frozen_after_s,
                clock=clock,
                painted_by="overlay" if overlay else "program",
            )
        )
        toy._server = await asyncio.start_unix_server(toy._called, mind)
        return toy

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.close()
        await self._server.wait_closed()

    async def process(self) -> Process:
        """The next process that the program runs in."""
        return await asyncio.wait_for(self._processes.get(), DEADLINE_S)

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        hello = json.loads(await reader.readline())
        await self._processes.put(Process(reader, writer, hello["pid"], hello["argv"]))
