import re

import pytest
from msgspec.structs import fields
from pluriverse_protocol import limits
from pluriverse_protocol.episodes import TRANSITIONS
from pluriverse_protocol.messages import AGENT_METHODS, SERVER_METHODS, Headers
from pluriverse_protocol.reports import REPORTS, REQUESTS
from protocol_tables import sections


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("server-messages", SERVER_METHODS),
        ("agent-messages", AGENT_METHODS),
        ("reports", REPORTS),
        ("requests", REQUESTS),
        ("headers", [field.name for field in fields(Headers)]),
        (
            "spaces",
            [
                "discrete",
                "tap",
                "keys",
                "pointer",
                "text",
                "observation",
                "step",
                "pads",
                "relative",
                "buttons",
                "submit",
            ],
        ),
        ("choice", ["name", "keys"]),
        ("node", ["role", "box", "name", "value", "parent"]),
        ("limits", [name for name in vars(limits) if name.isupper()]),
    ],
)
def test_tables_have_a_row_for_each_name_in_order(section: str, names: list[str]) -> None:
    header, _, *rows = sections()[section].splitlines()
    assert [re.match(r"\| `([^`]+)` \|", row).group(1) for row in rows] == list(names)  # pyright: ignore[reportOptionalMemberAccess]
    for row in rows:
        assert len(re.split(r"(?<!\\)\|", row)) == header.count("|") + 1
        assert "|  |" not in row


def test_every_transition_has_a_row_and_every_change_of_state_an_edge() -> None:
    assert len(sections()["transitions"].splitlines()) == len(TRANSITIONS) + 2
    diagram = sections()["diagram"]
    for edge in ("[*] --> idle", "idle --> resetting", "resetting --> running", "running --> resetting"):
        assert edge in diagram
