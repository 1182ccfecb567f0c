from __future__ import annotations

import dataclasses
import inspect
from typing import Any, get_args

import pytest
from pluriverse_protocol.kinds import fields_of
from pluriverse_protocol.messages import (
    AGENT_METHODS,
    METHOD_OF,
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
    assert len(METHOD_OF) == len(SERVER_METHODS) + len(AGENT_METHODS)
    for method, message in [*SERVER_METHODS.items(), *AGENT_METHODS.items()]:
        assert METHOD_OF[message] == method


@pytest.mark.parametrize("message", [Headers, *ALL])
def test_messages_are_frozen_described_and_have_a_kind_for_each_field(message: type[Any]) -> None:
    assert dataclasses.is_dataclass(message)
    assert message.__dataclass_params__.frozen  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    assert inspect.getdoc(message)
    assert [field.key for field in fields_of(message)] == [field.name for field in dataclasses.fields(message)]


@pytest.mark.parametrize(
    ("message", "required"),
    [(Describe, {"env_id", "env_state", "fps"}), (Reward, {"reward", "done"}), (Reset, set[str]())],
)
def test_what_old_agents_do_not_know_is_optional(message: type[Any], required: set[str]) -> None:
    assert {field.key for field in fields_of(message) if field.required} == required


def test_an_envelope_needs_message_id_and_sent_at_alone() -> None:
    assert {field.key for field in fields_of(Headers) if field.required} == {"message_id", "sent_at"}
