import pickle
import subprocess
import sys

import pytest
from pluriverse.adapters.registration import gymnasium_spec

LAKE = "pluriverse/gym-core.FrozenLake-v1"
# No such address: it was found, and not made.
MADE = "try:\n {}\nexcept Exception as error:\n assert type(error).__name__ == 'ConfigurationError', error\n"
# What imports find is not ours to change.
LEFT_ALONE = (
    "assert sys.meta_path == before\n"
    "assert type(gymnasium.__loader__).__name__ == 'SourceFileLoader' == type(gymnasium.__spec__.loader).__name__\n"
)


def run(code: str) -> None:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


@pytest.mark.parametrize("imports", ["gymnasium, pluriverse", "pluriverse, gymnasium, pluriverse.adapters.gymnasium"])
def test_importing_us_registers_environments_and_leaves_the_import_of_gymnasium_alone(imports: str) -> None:
    run(
        f"import sys, pkgutil\nbefore = list(sys.meta_path)\nimport {imports}\n{LEFT_ALONE}"
        f"assert {LAKE!r} in gymnasium.registry\nassert pkgutil.get_data('gymnasium', '__init__.py')"
    )


def test_environments_are_found_by_names_that_say_what_to_import_and_by_specs_that_were_pickled() -> None:
    spec = pickle.dumps(gymnasium_spec("gym-core.FrozenLake-v1"))
    for made in (
        f"gymnasium.make('pluriverse.adapters.gymnasium:{LAKE}', remotes='nowhere')",
        f"pickle.loads({spec!r}).make(remotes='nowhere')",
    ):
        run("import gymnasium, pickle\n" + MADE.format(made))


def test_importing_us_imports_neither_gymnasium_nor_numpy() -> None:
    run('import pluriverse, sys; assert not {"gymnasium", "numpy"} & sys.modules.keys()')


def test_without_gymnasium_we_can_be_imported_and_say_what_mends_it() -> None:
    run(
        "import sys\nsys.modules['gymnasium'] = None\n"
        "import pluriverse\n"
        "try:\n    from pluriverse.adapters.gymnasium import PluriverseEnv\n"
        "except pluriverse.ConfigurationError as error:\n    assert 'pluriverse[gymnasium]' in str(error)\n"
        "else:\n    raise AssertionError\n"
    )
