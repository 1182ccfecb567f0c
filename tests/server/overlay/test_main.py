import subprocess
import sys

import pytest


def test_it_stays_small() -> None:
    """There is one on each remote with a browser: none of the daemon's packages is in it."""
    script = "import sys, pluriverse_server.overlay.__main__; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "aiohttp", "pydantic", "asyncio", "typer"} & set(loaded)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--filter-keys"], 1, "overlay: no X server answers at DISPLAY=''"),
        (["--allow", "0x73"], 2, "argument --allow: invalid combination value: '0x73'"),
        (["--allow", "Control:s"], 2, "argument --allow: invalid combination value: 'Control:s'"),
    ],
)
def test_without_a_display_or_numbers_it_says_what_is_wrong_and_ends(
    arguments: list[str], status: int, said: str
) -> None:
    command = [sys.executable, "-m", "pluriverse_server.overlay", *arguments]
    ended = subprocess.run(command, env={}, capture_output=True, text=True)
    assert ended.returncode == status
    assert said in ended.stderr
