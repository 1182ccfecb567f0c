from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from pluriverse.adapters.registration import gymnasium_spec

REGISTERED = 'assert "pluriverse/gym-core.Pong-v3" in gymnasium.registry'


def run(code: str) -> None:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


@pytest.mark.parametrize(
    "imports",
    [
        "import gymnasium, pluriverse",
        "import pluriverse, gymnasium, pluriverse.adapters.gymnasium",
        "import pluriverse.adapters.gymnasium, gymnasium",
    ],
)
def test_environments_are_registered_by_importing_us(imports: str) -> None:
    run(f"{imports}\n{REGISTERED}")


@pytest.mark.parametrize(
    "name",
    ["pluriverse.adapters.gymnasium:pluriverse/gym-core.FrozenLake-v1", "pluriverse:pluriverse/gym-core.FrozenLake-v1"],
)
def test_environments_are_found_by_names_that_say_what_to_import(name: str) -> None:
    # No such address: it was found, and not made.
    run(
        f"import gymnasium\ntry:\n gymnasium.make({name!r}, remotes='nowhere')\n"
        "except Exception as error:\n assert type(error).__name__ == 'ConfigurationError', error"
    )


def test_specs_that_were_pickled_make_their_environments_in_a_fresh_process() -> None:
    spec = pickle.dumps(gymnasium_spec("gym-core.FrozenLake-v1"))
    run(
        f"import pickle\nspec = pickle.loads({spec!r})\ntry:\n spec.make(remotes='nowhere')\n"
        "except Exception as error:\n assert type(error).__name__ == 'ConfigurationError', error"
    )


def test_importing_us_imports_neither_gymnasium_nor_numpy() -> None:
    run('import pluriverse, sys; assert not {"gymnasium", "numpy"} & sys.modules.keys()')


@pytest.mark.parametrize("order", ["pluriverse, gymnasium", "gymnasium, pluriverse"])
def test_importing_us_leaves_the_import_of_gymnasium_alone(order: str) -> None:
    run(
        f"import sys, pkgutil\nbefore = list(sys.meta_path)\nimport {order}\nassert sys.meta_path == before\n"
        "assert type(gymnasium.__loader__).__name__ == 'SourceFileLoader' == type(gymnasium.__spec__.loader).__name__\n"
    )
    run("import pkgutil, pluriverse\nassert pkgutil.get_data('gymnasium', '__init__.py')")


def test_without_gymnasium_we_can_be_imported_and_say_what_mends_it() -> None:
    run(
        "import sys\nsys.modules['gymnasium'] = None\n"
        "import pluriverse\n"
        "try:\n    from pluriverse.adapters.gymnasium import PluriverseEnv\n"
        "except pluriverse.ConfigurationError as error:\n    assert 'pluriverse[gymnasium]' in str(error)\n"
        "else:\n    raise AssertionError\n"
    )
