"""Tests mirror the source: from the path of a module follows where its tests are, and back."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = {
    "protocol": ROOT / "protocol/src/pluriverse_protocol",
    "client": ROOT / "client/src/pluriverse",
    "server": ROOT / "server/src/pluriverse_server",
    "authoring": ROOT / "authoring/src/pluriverse_authoring",
    "evaluation": ROOT / "evaluation/src/pluriverse_eval",
}
# What is tested of a whole package, lives elsewhere, or isn't written in Python.
OTHERS: Final = {
    "client/adapters/gymnasium/test_audio.py": "client/src/pluriverse/adapters/gymnasium",
    "client/adapters/gymnasium/test_relative_pointer.py": "client/src/pluriverse/adapters/actions.py",
    "client/adapters/gymnasium/test_checkers.py": "client/src/pluriverse/adapters/gymnasium",
    "client/adapters/gymnasium/test_importing.py": "client/src/pluriverse/adapters/gymnasium",
    "client/adapters/gymnasium/test_registration.py": "client/src/pluriverse/adapters/gymnasium",
    "client/adapters/gymnasium/test_stable_baselines.py": "client/src/pluriverse/adapters/gymnasium",
    "client/adapters/gymnasium/test_torchrl.py": "client/src/pluriverse/adapters/gymnasium",
    "client/native/test_sanitizers.py": "client/native",
    "client/native/test_twins.py": "client/native",
    "client/native/test_web_stream.py": "client/native/web_stream.c",
    "client/testing/test_testing.py": "client/src/pluriverse/testing",
    "evaluation/suites/realtime/test_scripts.py": "evaluation/src/pluriverse_eval/suites/realtime",
    "evaluation/suites/realtime/test_suite.py": "evaluation/src/pluriverse_eval/suites/realtime.toml",
    "server/display/test_connection.py": "server/src/pluriverse_server/x11/connection.py",
    "server/lockstep/test_sound.py": "server/native/lockstep/sound.c",
    "server/scraper/test_remote.py": "server/src/pluriverse_server/scraper",
    "server/scraper/test_scraper.py": "server/src/pluriverse_server/scraper",
    "server/sources/screen/test_screen.py": "server/src/pluriverse_server/sources/screen",
    "server/viewer/test_lockstep_page.py": "server/src/pluriverse_server/viewer/static/lockstep.js",
    "server/viewer/test_page.py": "server/src/pluriverse_server/viewer/static",
    "server/viewer/test_readings.py": "server/src/pluriverse_server/viewer/static",
    "server/viewer/test_vendor_assets.py": "tools/vendor_assets.py",
}


def test_test_files_are_named_after_what_they_test() -> None:
    folder = ROOT / "tests"
    tests = {path.relative_to(folder) for side in SOURCES for path in (folder / side).rglob("test_*.py")}
    strays = {str(test) for test in tests if not names_a_module(test)}
    assert strays == OTHERS.keys()
    assert not [other for other in OTHERS.values() if not (ROOT / other).exists()]


def names_a_module(test: Path) -> bool:
    side, *folders, name = test.parts
    package = SOURCES[side].joinpath(*folders)
    words = name.removesuffix(".py").removeprefix("test_").split("_")
    # test_driver_live.py is of driver.py, and test_main.py of __main__.py.
    named = ["_".join(words[:count]) for count in range(1, len(words) + 1)]
    return any(
        (package / f"{module}.py").exists() or (package / module).is_dir() or (package / f"__{module}__.py").exists()
        for module in named
    )
