import inspect
from typing import Any, get_args

import pytest
from msgspec.structs import fields
from pluriverse_protocol.kinds import describe
from pluriverse_protocol.messages import (
    AGENT_METHODS,
    SERVER_METHODS,
    AgentMessage,
    Describe,
    Headers,
    Reset,
    Reward,
    ServerMessage,
)

ALL: list[type[Any]] = [*SERVER_METHODS.values(), *AGENT_METHODS.values()]


def test_every_message_has_one_method_and_every_method_one_message() -> None:
    assert set(SERVER_METHODS.values()) == set(get_args(ServerMessage))
    assert set(AGENT_METHODS.values()) == set(get_args(AgentMessage))
    assert len({*SERVER_METHODS, *AGENT_METHODS}) == len(ALL)


@pytest.mark.parametrize("message", [Headers, *ALL])
def test_messages_are_frozen_described_and_have_a_kind_for_each_field(message: type[Any]) -> None:
    assert message.__struct_config__.frozen
    assert inspect.getdoc(message)
    assert all(describe(field.type) for field in fields(message))


@pytest.mark.parametrize(
    ("message", "required"),
    [
        (Describe, {"env_id", "env_state", "fps"}),
        (Reward, {"reward", "done"}),
        (Reset, set[str]()),
        (Headers, {"message_id", "sent_at"}),
    ],
)
def test_what_old_agents_do_not_know_is_optional(message: type[Any], required: set[str]) -> None:
    assert {field.name for field in fields(message) if field.required} == required
