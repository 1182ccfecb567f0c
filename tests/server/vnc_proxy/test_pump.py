import asyncio
import socket

from pluriverse_server.vnc_proxy.pump import BUFFER_BYTES, Half, join
from support.waiting import DEADLINE_S

Ends = tuple[socket.socket, socket.socket]


async def joined() -> Ends:
    """Two sockets, each of which is connected to the other through a pump."""
    loop = asyncio.get_running_loop()
    halves: list[Half] = []
    far: list[socket.socket] = []
    for _ in range(2):
        near, end = socket.socketpair()
        end.setblocking(False)
        _, half = await loop.create_connection(Half, sock=near)
        halves.append(half)
        far.append(end)
    join(*halves)
    return far[0], far[1]


async def test_all_of_it_arrives_in_order_at_one_who_reads_slowly() -> None:
    loop = asyncio.get_running_loop()
    one, another = await joined()
    data = bytes(range(256)) * (32 * BUFFER_BYTES // 256)
    with one, another:
        sending = asyncio.create_task(loop.sock_sendall(one, data))
        received = bytearray()
        while len(received) < len(data):
            received += await loop.sock_recv(another, 100_000)
        await sending
        assert received == data


async def test_one_who_does_not_read_holds_up_the_sender() -> None:
    loop = asyncio.get_running_loop()
    one, another = await joined()
    with one, another:
        sent = 0
        while True:
            try:
                sent += await asyncio.wait_for(_send(loop, one), 0.5)
            except TimeoutError:
                break
            # What the kernel and the pump keep is bounded.
            assert sent < 16 * BUFFER_BYTES


async def test_when_one_side_ends_so_does_the_other() -> None:
    loop = asyncio.get_running_loop()
    one, another = await joined()
    with another:
        one.close()
        assert await asyncio.wait_for(loop.sock_recv(another, 100), DEADLINE_S) == b""


async def _send(loop: asyncio.AbstractEventLoop, end: socket.socket) -> int:
    await loop.sock_sendall(end, bytes(65536))
    return 65536
