import importlib

import pytest
from pluriverse.rfb.decoder import Decoder
from pluriverse.rfb.python_decoder import PythonDecoder


@pytest.fixture(params=["python", "native"], scope="session")
def decoder_class(request: pytest.FixtureRequest) -> type[Decoder]:
    """Each implementation: every test with this fixture holds for both."""
    if request.param == "python":
        return PythonDecoder
    try:
        return importlib.import_module("pluriverse.rfb._native").NativeDecoder
    except ImportError as error:
        pytest.skip(f"the native part was not built ({error})")
