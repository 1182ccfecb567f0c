from __future__ import annotations

import asyncio

import pytest
from aiohttp import web
from pluriverse_server.viewer.hub import MAX_REASON_BYTES, MAX_VIEWERS, End, TooManyViewers, ViewerHub, first_end


def test_viewers_are_counted_while_they_look() -> None:
    hub = ViewerHub()
    with hub.picture(web.WebSocketResponse()), hub.picture(web.WebSocketResponse()):
        assert hub.viewers == 2
    assert hub.viewers == 0


def test_feed_alone_is_no_viewer_and_hears_of_changes() -> None:
    hub = ViewerHub()
    hub.changed()
    with hub.feed(web.WebSocketResponse()) as changed:
        assert hub.viewers == 0
        assert not changed.is_set()
        hub.changed()
        assert changed.is_set()


def test_one_viewer_too_many_is_refused_and_a_place_is_free_again_after_one_left() -> None:
    hub = ViewerHub()
    places = [hub.picture(web.WebSocketResponse()) for _ in range(MAX_VIEWERS)]
    for place in places:
        place.__enter__()
    with pytest.raises(TooManyViewers, match=str(MAX_VIEWERS)), hub.picture(web.WebSocketResponse()):
        pass
    places[0].__exit__(None, None, None)
    with hub.picture(web.WebSocketResponse()):
        assert hub.viewers == MAX_VIEWERS


def test_reasons_fit_a_close_frame() -> None:
    assert len(f"{MAX_VIEWERS} viewers are connected already, as many as this remote allows") <= MAX_REASON_BYTES


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
