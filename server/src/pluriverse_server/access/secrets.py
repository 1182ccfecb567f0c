"""The secrets that open a remote, and what each allows at the moment.

Changed by the daemon's thread alone; asked by any: what is asked is replaced as a whole.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from typing import Final

from pluriverse_protocol.rfb.security import answer_challenge

from .tokens import RIGHTS, Right, Role, Token, password_token

# How many leases' tokens are known after their end. More would slow down each guess.
MAX_ENDED: Final = 8

Tell = Callable[[], object]


class Secrets:
    """The password, the tokens of the list, and the one of the lease; ``on_change`` is called when some are taken away.

    ``password`` None: there are tokens alone.
    """

    def __init__(self, password: str | None, tokens: Sequence[Token] | None = None) -> None:
        """``tokens`` None: there is no list, and never will be."""
        self.on_change: list[Tell] = []
        self.has_list: bool = tokens is not None
        """Whether there is a list of tokens, be it empty."""
        self._password = password_token(password)
        self._listed = tuple(tokens or ())
        self._leased: Token | None = None
        self._ended: tuple[Token, ...] = ()
        self._collect()

    @property
    def listed(self) -> tuple[Token, ...]:
        return self._listed

    def identify(self, *given: bytes) -> Token | None:
        """Return the owner of one of these secrets, in constant time.

        Of a lease that has ended there is a token without any rights.
        """
        found: Token | None = None
        for token in self._rights:
            right = False
            for each in given:
                right |= hmac.compare_digest(each, token.secret.encode())
            found = token if right else found
        return found

    def identify_answer(self, challenge: bytes, answer: bytes, *, long: bool = False) -> Token | None:
        """Return who has answered VNC's challenge, of all or of those with a long secret; see ``identify``."""
        found: Token | None = None
        for token in self._rights:
            if long and not token.is_long:
                continue
            found = token if hmac.compare_digest(answer_challenge(token.secret, challenge), answer) else found
        return found

    def rights(self, token: Token) -> Right:
        """Return what the holder of a token may do now: nothing if it was taken away, not play while others lease."""
        return self._rights.get(token, Right.NOTHING)

    def replace_listed(self, tokens: Sequence[Token]) -> None:
        self._listed = tuple(tokens)
        self._collect()

    def begin_lease(self, token: Token) -> None:
        self._leased = token
        self._collect()

    def end_lease(self) -> None:
        if self._leased is None:
            return
        ended = Token(Role.ENDED, self._leased.name, self._leased.secret)
        self._ended = (*self._ended, ended)[-MAX_ENDED:]
        self._leased = None
        self._collect()

    def _collect(self) -> None:
        leased = () if self._leased is None else (self._leased,)
        barred = Right.NOTHING if self._leased is None else Right.PLAY
        others = {token: RIGHTS[token.role] & ~barred for token in (*self._password, *self._listed, *self._ended)}
        self._rights = {**others, **{token: RIGHTS[token.role] for token in leased}}
        for tell in self.on_change:
            tell()
