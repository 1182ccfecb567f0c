"""What a scraper is asked for trees, and answers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Final

from pluriverse_protocol.reports import ReadTree, TreeRead

from pluriverse_server.sources.trees import TREE_S, Box, NoTree, Tree

# How much later than the scraper itself, which has the reason, to give up.
GRACE_S: Final = 0.5


class AskedTrees:
    def __init__(self, send: Callable[[ReadTree], None]) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[TreeRead]] = {}

    async def ask(self, picture: Box) -> Tree:
        number = next(self._numbers)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        self._send(ReadTree(number, picture))
        try:
            async with asyncio.timeout(TREE_S + GRACE_S):
                read = await answer
        except TimeoutError:
            raise NoTree(f"the program's widgets could not be read within {TREE_S:g} s") from None
        finally:
            del self._asked[number]
        if read.error:
            raise NoTree(read.error)
        return Tree(read.nodes, read.left_out)

    def answered(self, read: TreeRead) -> None:
        """Take an answer; unexpected ones are ignored."""
        answer = self._asked.get(read.number)
        if answer is not None and not answer.done():
            answer.set_result(read)
