"""tests/{protocol,client,server} mirror the source: from a module's path follows where its tests are, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = {
    "protocol": ROOT / "protocol/src/pluriverse_protocol",
    "client": ROOT / "client/src/pluriverse",
    "server": ROOT / "server/src/pluriverse_server",
}
# What is tested of a whole package, lives elsewhere, or isn't written in Python.
OTHERS: Final = {
    "client/adapters/gymnasium/test_checkers.py": "client/src/pluriverse/adapters/gymnasium",
    "client/adapters/gymnasium/test_importing.py": "client/src/pluriverse/adapters/gymnasium",
    "client/adapters/gymnasium/test_registration.py": "client/src/pluriverse/adapters/gymnasium",
    "client/adapters/gymnasium/test_stable_baselines.py": "client/src/pluriverse/adapters/gymnasium",
    "client/adapters/gymnasium/test_torchrl.py": "client/src/pluriverse/adapters/gymnasium",
    "client/native/test_sanitizers.py": "client/native",
    "client/native/test_twins.py": "client/native",
    "client/native/test_web_stream.py": "client/native/web_stream.c",
    "client/testing/test_testing.py": "client/src/pluriverse/testing",
    "server/display/test_connection.py": "server/src/pluriverse_server/x11/connection.py",
    "server/scraper/test_remote.py": "server/src/pluriverse_server/scraper",
    "server/scraper/test_scraper.py": "server/src/pluriverse_server/scraper",
    "server/sources/screen/test_screen.py": "server/src/pluriverse_server/sources/screen",
    "server/viewer/test_lockstep_page.py": "server/src/pluriverse_server/viewer/static/lockstep.js",
    "server/viewer/test_page.py": "server/src/pluriverse_server/viewer/static",
    "server/viewer/test_readings.py": "server/src/pluriverse_server/viewer/static",
    "server/viewer/test_vendor_assets.py": "tools/vendor_assets.py",
}
TESTS: Final = [path for side in SOURCES for path in sorted((ROOT / "tests" / side).rglob("test_*.py"))]


@pytest.mark.parametrize("test", [str(path.relative_to(ROOT / "tests")) for path in TESTS])
def test_test_file_is_named_after_what_it_tests(test: str) -> None:
    if test in OTHERS:
        assert (ROOT / OTHERS[test]).exists()
        return
    side, *folders, name = Path(test).parts
    package = SOURCES[side].joinpath(*folders)
    words = name.removesuffix(".py").removeprefix("test_").split("_")
    # test_driver_live.py is of driver.py, and test_main.py of __main__.py.
    named = ["_".join(words[:count]) for count in range(1, len(words) + 1)]
    assert any(
        (package / f"{module}.py").exists() or (package / module).is_dir() or (package / f"__{module}__.py").exists()
        for module in named
    ), f"there is no module that {test} is named after: tests/test_mirror.py"
