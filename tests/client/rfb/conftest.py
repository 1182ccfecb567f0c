from __future__ import annotations

import importlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pluriverse.rfb.decoder import Decoder
from pluriverse.rfb.python_decoder import PythonDecoder
from pluriverse_server.display import Screen, make_screen
from support.rfb_streams import screen_options


@pytest.fixture(params=["python", "native"], scope="session")
def decoder_class(request: pytest.FixtureRequest) -> type[Decoder]:
    """Each implementation: every test with this fixture holds for both."""
    if request.param == "python":
        return PythonDecoder
    try:
        return importlib.import_module("pluriverse.rfb._native").NativeDecoder
    except ImportError as error:
        pytest.skip(f"the native part was not built ({error})")


@pytest.fixture
async def screen(tmp_path: Path) -> AsyncGenerator[Screen]:
    """A small screen of Xvfb, shown by X0tigervnc to everybody."""
    shown = make_screen(screen_options(tmp_path))
    await shown.start()
    yield shown
    await shown.stop()
