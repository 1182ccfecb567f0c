"""The trees of what is on the screen that were asked for on a connection, each with a thread that waits for it."""

from __future__ import annotations

import concurrent.futures
from typing import Final

from pluriverse_protocol import MessageId
from pluriverse_protocol.messages import TreeReply

from pluriverse.errors import Misuse, RemoteFailed

# A remote gives a program up after half of it.
TREE_S: Final = 10.0

Answer = concurrent.futures.Future[TreeReply]


class AskedTrees:
    """Used on the loop but for ``wait``."""

    def __init__(self) -> None:
        self._asked: dict[MessageId, Answer] = {}

    @staticmethod
    def wait(answer: Answer) -> TreeReply:
        try:
            return answer.result(TREE_S)
        except TimeoutError:
            answer.cancel()
            raise RemoteFailed(f"the remote sent no tree within {TREE_S:g} s") from None

    def ask(self, number: MessageId, answer: Answer) -> None:
        """Note that a message requests a tree; abandoned requests are forgotten."""
        self._asked = {asked: each for asked, each in self._asked.items() if not each.done()}
        self._asked[number] = answer

    def answered(self, number: MessageId | None, reply: TreeReply) -> None:
        answer = self._take(number)
        if answer is not None:
            answer.set_result(reply)

    def refused(self, number: MessageId | None, why: str) -> None:
        """Take a refusal of the message of this number, if it asked for a tree."""
        answer = self._take(number)
        if answer is not None:
            answer.set_exception(Misuse(f"the remote can't send a tree: {why}"))

    def give_up(self, why: str) -> None:
        """Fail all waiting requests."""
        asked, self._asked = self._asked, {}
        for answer in asked.values():
            if answer.set_running_or_notify_cancel():
                answer.set_exception(RemoteFailed(why))

    def _take(self, number: MessageId | None) -> Answer | None:
        answer = None if number is None else self._asked.pop(number, None)
        return answer if answer is not None and answer.set_running_or_notify_cancel() else None
