import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.limits import MAX_KEYSYM
from pluriverse_server.manifest.runtime import FILE_NAME, Manifest, describe
from pluriverse_server.manifest.spaces import SpacesTable, keysym
from pydantic import ValidationError
from Xlib import XK

DOCUMENT = Path(__file__).parents[3] / "docs" / "runtimes.md"
NO_KEYS: list[str] = []


def manifest(*envs: dict[str, Any], **tables: Any) -> Manifest:
    return Manifest.model_validate(
        {
            "runtime": {"id": "toy", "version": "1.2.3", "title": "", "default_env": "a"},
            "program": {"command": ["true"]},
            "rewards": [{"source": "reports"}],
            "envs": list(envs),
            **tables,
        }
    )


def complaints(*envs: dict[str, Any], **tables: Any) -> list[str]:
    with pytest.raises(ValidationError) as refused:
        manifest(*envs, **tables)
    return [line.removeprefix(f"{FILE_NAME}: ") for line in describe(Path(FILE_NAME), refused.value).splitlines()]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("Left", 0xFF51),
        (" ", 0x20),
        ("z", ord("z")),
        ("é", 0xE9),
        ("eacute", 0xE9),
        ("€", 0x0100_20AC),
        (MAX_KEYSYM, MAX_KEYSYM),
    ],
)
def test_keys_are_names_of_xs_characters_or_numbers(key: object, expected: int) -> None:
    assert keysym(key) == expected


def test_every_name_that_x_has_for_latin_keys_is_known() -> None:
    for name, number in vars(XK).items():
        if name.startswith("XK_"):
            assert keysym(name.removeprefix("XK_")) == number


@pytest.mark.parametrize(
    ("key", "complaint"),
    [
        ("left", "the nearest: Left"),
        ("", "unknown key; expected an X key name, a character, or a number"),
        ("\x00", "unknown key"),
        (0, "expected an X key name, a character, or a number of 1 to 0x1fffffff"),
        (MAX_KEYSYM + 1, "expected an X key name"),
        (True, "expected an X key name"),
    ],
)
def test_what_is_no_key_is_refused_with_those_that_are_spelled_like_it(key: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        keysym(key)


def test_table_becomes_what_agents_are_told() -> None:
    table = SpacesTable.model_validate(
        {
            "discrete": [{"name": "wait", "keys": NO_KEYS}, {"name": "shoot", "keys": ["Left", "z"]}],
            "tap": True,
            "keys": ["z", "Left", 0xFF53],
            "pointer": True,
            "text": True,
            "observation": [3, 2],
        }
    )
    assert table.spaces() == Spaces(
        discrete=(Choice("wait", ()), Choice("shoot", (0xFF51, ord("z")))),
        tap=True,
        keys=(ord("z"), 0xFF51, 0xFF53),
        pointer=True,
        text=True,
        observation=(3, 2),
    )
    assert SpacesTable().spaces() == Spaces()


def test_environments_own_come_before_the_runtimes() -> None:
    toy = manifest({"id": "a"}, {"id": "b", "spaces": {"keys": ["z"]}}, spaces={"pointer": True})
    assert [toy.spaces_of(entry) for entry in toy.envs] == [Spaces(pointer=True), Spaces(keys=(ord("z"),))]


@pytest.mark.parametrize(
    ("spaces", "complaint"),
    [
        (
            {"keys": ["Left", "Rihgt"]},
            "keys[1]: unknown key (case matters); the nearest: R",
        ),
        (
            {"discrete": [{"name": "a", "keys": NO_KEYS}, {"name": "b", "keys": ["Lfet"]}]},
            "discrete[1].keys[0]: unknown key",
        ),
        ({"discrete": [{"name": "a"}]}, "discrete[0].keys: missing; expected a value"),
        ({"discrete": [{"name": "a", "keys": NO_KEYS, "tap": True}]}, "discrete[0].tap: unknown key; is it misspelt"),
        ({"observation": ["4"]}, "observation[0]: input should be a valid integer"),
    ],
)
def test_each_mistake_names_the_entry_and_the_key(spaces: dict[str, Any], complaint: str) -> None:
    (line,) = complaints({"id": "a"}, {"id": "b", "spaces": spaces})
    assert line.startswith(f"envs[1].spaces.{complaint}"), line
    (line,) = complaints({"id": "a"}, spaces=spaces)
    assert line.startswith(f"spaces.{complaint}"), line


@pytest.mark.parametrize(
    ("spaces", "complaint"),
    [
        ({"observation": [0]}, "'observation' is (0,), expected list of 1 to 4 sizes"),
        ({"discrete": [{"name": "a", "keys": NO_KEYS}] * 2}, "'discrete' has two choices 'a', expected each name once"),
    ],
)
def test_what_the_protocol_does_not_carry_is_refused_where_it_is_written(
    spaces: dict[str, Any], complaint: str
) -> None:
    (line,) = complaints({"id": "a", "spaces": spaces})
    assert line.startswith(f"envs[0].spaces: {complaint}"), line


def test_environments_with_the_same_spaces_share_them() -> None:
    same, other = {"tap": True}, {"tap": False}
    first, second, third = manifest(
        {"id": "a", "spaces": same}, {"id": "b", "spaces": same}, {"id": "c", "spaces": other}
    ).envs
    assert first.spaces is second.spaces
    assert third.spaces is not first.spaces


def test_what_is_printed_of_an_environment_can_be_listed_again() -> None:
    (entry,) = manifest({"id": "a", "spaces": {"keys": ["Left"], "observation": [4]}}).envs
    printed = entry.model_dump(exclude_defaults=True)
    assert printed == {"id": "a", "spaces": {"keys": [0xFF51], "observation": [4]}}
    assert manifest(printed).envs == [entry]


def test_the_documents_example_is_one_and_its_table_has_every_key() -> None:
    section = DOCUMENT.read_text(encoding="utf-8").partition("### spaces\n")[2].partition("\n##")[0]
    example = tomllib.loads(section.partition("```toml\n")[2].partition("```")[0])
    spaces = SpacesTable.model_validate(example["spaces"]).spaces()
    assert [choice.name for choice in spaces.discrete] == ["wait", "left", "jump left"]
    assert spaces.keyboard == (0xFF51, ord("z"))
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(SpacesTable.model_fields)
