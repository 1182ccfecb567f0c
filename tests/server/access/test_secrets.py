import os

import pytest
from pluriverse_protocol.rfb.security import answer_challenge
from pluriverse_server.access.secrets import MAX_ENDED, Secrets
from pluriverse_server.access.tokens import Right, Role, Token, parse_tokens

AGENT, OBSERVER, PERSON, OPERATOR = parse_tokens(
    "agent a agents-token\nobserver b observers-token\nperson c persons-token\noperator d operators-token"
)
LISTED = (AGENT, OBSERVER, PERSON, OPERATOR)
LEASE = Token(Role.AGENT, "lease 1", "leases-token")


@pytest.fixture
def secrets() -> Secrets:
    return Secrets("password", LISTED)


@pytest.mark.parametrize("token", LISTED)
def test_token_is_known_on_every_port(secrets: Secrets, token: Token) -> None:
    assert secrets.identify(b"nothing", token.secret.encode()) == token
    challenge = os.urandom(16)
    assert secrets.identify_answer(challenge, answer_challenge(token.secret[:8], challenge)) == token


@pytest.mark.parametrize("given", [b"", b"agents-toke", b"agents-tokens", b"Agents-token", b"passwor", b"\xff"])
def test_anything_else_is_nobody(secrets: Secrets, given: bytes) -> None:
    assert secrets.identify(given) is None
    assert secrets.identify() is None


def test_password_may_everything() -> None:
    secrets = Secrets("password")
    who = secrets.identify(b"password")
    assert who is not None
    assert secrets.rights(who) == Right.WATCH | Right.PLAY | Right.CONTROL | Right.OPERATE
    assert not secrets.has_list
    assert Secrets("password", ()).has_list


def test_leases_token_alone_plays(secrets: Secrets) -> None:
    secrets.begin_lease(LEASE)
    assert secrets.identify(b"leases-token") == LEASE
    assert secrets.rights(LEASE) == Right.WATCH | Right.PLAY
    assert secrets.rights(AGENT) == Right.WATCH
    assert secrets.rights(PERSON) == Right.WATCH | Right.CONTROL
    assert Right.PLAY not in secrets.rights(Token(Role.ALL, "password", "password"))
    secrets.end_lease()
    assert secrets.rights(LEASE) is Right.NOTHING
    assert Right.PLAY in secrets.rights(AGENT)


def test_lease_that_has_ended_is_still_known_for_a_while(secrets: Secrets) -> None:
    for number in range(MAX_ENDED + 1):
        secrets.begin_lease(Token(Role.AGENT, f"lease {number}", f"leases-token-{number}"))
        secrets.end_lease()
        secrets.end_lease()
    assert secrets.identify(b"leases-token-0") is None
    ended = secrets.identify(b"leases-token-1")
    assert ended is not None
    assert (ended.role, secrets.rights(ended)) == (Role.ENDED, Right.NOTHING)


def test_token_that_is_taken_away_may_nothing_and_others_are_told(secrets: Secrets) -> None:
    told: list[bool] = []
    secrets.on_change.append(lambda: told.append(secrets.rights(AGENT) is Right.NOTHING))
    secrets.replace_listed((OBSERVER,))
    assert told == [True]
    assert secrets.identify(b"agents-token") is None
    # Of the same name, with another secret.
    secrets.replace_listed((Token(Role.AGENT, "a", "another-token"),))
    assert secrets.rights(AGENT) is Right.NOTHING
    assert secrets.listed[0].name == "a"


def test_without_a_password_there_are_tokens_alone() -> None:
    secrets = Secrets(None, LISTED)
    assert secrets.identify(b"None", b"password", b"") is None
    assert secrets.identify(b"agents-token") == AGENT
