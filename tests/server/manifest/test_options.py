import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pluriverse_protocol.env_options import Option
from pluriverse_server.manifest.page import PageTable
from pluriverse_server.manifest.runtime import EnvTable, fill_address, fill_command
from pydantic import ValidationError

DOCUMENT = Path(__file__).parents[3] / "docs" / "runtimes.md"
MAZE = {
    "id": "maze",
    "options": {
        "level": {"type": "integer", "default": 1, "maximum": 9},
        "skill": {"type": "string", "default": "a novice"},
    },
}


def test_the_documents_example_is_read_and_its_table_has_every_key() -> None:
    section = DOCUMENT.read_text(encoding="utf-8").partition("### options\n")[2].partition("\n## ")[0]
    example = tomllib.loads(section.partition("```toml\n")[2].partition("```")[0])
    options = EnvTable.model_validate(example["envs"][0]).options
    assert list(options) == ["level", "music", "skill"]
    assert options["level"] == Option("integer", 1, 1.0, 9.0, description="how large the maze is")
    keys = [key for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section, re.MULTILINE) for key in row.split(", ")]
    assert [key.strip("`") for key in keys] == list(Option.__struct_fields__)


def test_options_are_dumped_with_their_table() -> None:
    dumped = EnvTable.model_validate(MAZE).model_dump(mode="json")["options"]
    assert EnvTable(id="maze", options=dumped) == EnvTable.model_validate(MAZE)


def test_thousands_of_environments_share_equal_options() -> None:
    first, second = (EnvTable.model_validate({**MAZE, "id": name}) for name in ("a", "b"))
    assert first.options is second.options


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (3, "options"),
        ({"level": {"type": "integer", "default": 1, "max": 9}}, "the option 'level': unknown key 'max', expected one"),
    ],
)
def test_what_is_no_declaration_is_refused(options: Any, complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        EnvTable.model_validate({"id": "a", "options": options})


def test_commands_and_addresses_are_filled_with_the_options_values() -> None:
    entry = EnvTable.model_validate(MAZE)
    command = ["maze", "--level={options.level}", "{options.skill}"]
    assert fill_command(command, entry, seed=7, fps=60.0) == ["maze", "--level=1", "a novice"]
    filled = fill_command(command, entry, seed=7, fps=60.0, options={"level": 3, "skill": "expert"})
    assert filled == ["maze", "--level=3", "expert"]
    page = PageTable.model_validate({"url": "http://maze.test/?skill={options.skill}"})
    assert fill_address(page, entry, seed=7, fps=60.0) == "http://maze.test/?skill=a%20novice"
