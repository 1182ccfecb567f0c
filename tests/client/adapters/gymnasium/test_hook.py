from __future__ import annotations

import subprocess
import sys

import pytest

REGISTERED = 'assert "pluriverse/gym-core.Pong-v3" in gymnasium.registry'


def run(code: str) -> None:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


@pytest.mark.parametrize("order", ["pluriverse, gymnasium", "gymnasium, pluriverse"])
def test_environments_are_registered_in_whichever_order_one_imports(order: str) -> None:
    run(f"import {order}\n{REGISTERED}")


def test_importing_us_imports_neither_gymnasium_nor_numpy() -> None:
    run('import pluriverse, sys; assert not {"gymnasium", "numpy"} & sys.modules.keys()')


def test_gymnasium_is_loaded_by_its_own_loader_and_the_hook_is_gone() -> None:
    run(
        "import sys\nbefore = list(sys.meta_path)\n"
        "import pluriverse, gymnasium\n"
        "assert sys.meta_path == before\n"
        "assert type(gymnasium.__loader__).__name__ == 'SourceFileLoader' == type(gymnasium.__spec__.loader).__name__\n"
    )


def test_looking_whether_gymnasium_is_there_changes_nothing() -> None:
    run(
        "import importlib.util, pluriverse\nassert importlib.util.find_spec('gymnasium') is not None\n"
        f"import gymnasium\n{REGISTERED}"
    )


def test_ids_of_ours_make_gymnasium_import_us() -> None:
    run("import gymnasium\nassert gymnasium.envs.registration._find_spec('pluriverse:pluriverse/gym-core.Pong-v3')")


def test_without_gymnasium_we_can_be_imported_and_say_what_mends_it() -> None:
    run(
        "import sys\nsys.modules['gymnasium'] = None\n"
        "import pluriverse\n"
        "try:\n    from pluriverse.adapters.gymnasium import PluriverseEnv\n"
        "except pluriverse.ConfigurationError as error:\n    assert 'pluriverse[gymnasium]' in str(error)\n"
        "else:\n    raise AssertionError\n"
    )
