from __future__ import annotations

import os

import pytest
from pluriverse_protocol.rfb.security import answer_challenge
from pluriverse_server.access.keyring import MAX_ENDED, Keyring
from pluriverse_server.access.tokens import Right, Role, Token, parse_tokens

AGENT, OBSERVER, PERSON, OPERATOR = parse_tokens(
    "agent a agents-token\nobserver b observers-token\nperson c persons-token\noperator d operators-token"
)
LISTED = (AGENT, OBSERVER, PERSON, OPERATOR)
LEASE = Token(Role.AGENT, "lease 1", "leases-token")


@pytest.fixture
def keyring() -> Keyring:
    return Keyring("password", LISTED)


@pytest.mark.parametrize("token", LISTED)
def test_token_is_known_on_every_port(keyring: Keyring, token: Token) -> None:
    assert keyring.identify(b"nothing", token.secret.encode()) == token
    challenge = os.urandom(16)
    assert keyring.identify_answer(challenge, answer_challenge(token.secret[:8], challenge)) == token


@pytest.mark.parametrize("given", [b"", b"agents-toke", b"agents-tokens", b"Agents-token", b"passwor", b"\xff"])
def test_anything_else_is_nobody(keyring: Keyring, given: bytes) -> None:
    assert keyring.identify(given) is None
    assert keyring.identify() is None


def test_password_may_everything() -> None:
    keyring = Keyring("password")
    who = keyring.identify(b"password")
    assert who is not None
    assert keyring.rights(who) == Right.WATCH | Right.PLAY | Right.CONTROL | Right.OPERATE
    assert not keyring.has_list
    assert Keyring("password", ()).has_list


def test_leases_token_alone_plays(keyring: Keyring) -> None:
    keyring.begin_lease(LEASE)
    assert keyring.identify(b"leases-token") == LEASE
    assert keyring.rights(LEASE) == Right.WATCH | Right.PLAY
    assert keyring.rights(AGENT) == Right.WATCH
    assert keyring.rights(PERSON) == Right.WATCH | Right.CONTROL
    assert Right.PLAY not in keyring.rights(Token(Role.ALL, "password", "password"))
    keyring.end_lease()
    assert keyring.rights(LEASE) is Right.NOTHING
    assert Right.PLAY in keyring.rights(AGENT)


def test_lease_that_has_ended_is_still_known_for_a_while(keyring: Keyring) -> None:
    for number in range(MAX_ENDED + 1):
        keyring.begin_lease(Token(Role.AGENT, f"lease {number}", f"leases-token-{number}"))
        keyring.end_lease()
        keyring.end_lease()
    assert keyring.identify(b"leases-token-0") is None
    ended = keyring.identify(b"leases-token-1")
    assert ended is not None
    assert (ended.role, keyring.rights(ended)) == (Role.ENDED, Right.NOTHING)


def test_token_that_is_taken_away_may_nothing_and_others_are_told(keyring: Keyring) -> None:
    told: list[bool] = []
    keyring.on_change.append(lambda: told.append(keyring.rights(AGENT) is Right.NOTHING))
    keyring.replace_listed((OBSERVER,))
    assert told == [True]
    assert keyring.identify(b"agents-token") is None
    # Of the same name, with another secret.
    keyring.replace_listed((Token(Role.AGENT, "a", "another-token"),))
    assert keyring.rights(AGENT) is Right.NOTHING
    assert keyring.listed[0].name == "a"


def test_without_a_password_there_are_tokens_alone() -> None:
    keyring = Keyring(None, LISTED)
    assert keyring.identify(b"None", b"password", b"") is None
    assert keyring.identify(b"agents-token") == AGENT
