import asyncio

from aiohttp import web
from pluriverse_server.viewer.sessions import End, ViewerSessions, first_end


def test_feed_alone_is_no_viewer_and_hears_of_changes() -> None:
    sessions = ViewerSessions()
    sessions.changed()
    with sessions.feed(web.WebSocketResponse()) as changed:
        assert sessions.viewers == 0
        assert not changed.is_set()
        sessions.changed()
        assert changed.is_set()


async def test_first_direction_to_end_decides_and_the_other_is_cancelled() -> None:
    cancelled = asyncio.Event()

    async def stays() -> End:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()

    async def ends() -> End:
        return 1000, "done"

    assert await first_end(stays(), ends()) == (1000, "done")
    assert cancelled.is_set()
