import sys

import pytest
from pluriverse.rfb.decoder import ENVIRONMENT_VARIABLE, decoder_class, implementation
from pluriverse.rfb.errors import DecoderUnavailable, RfbError
from pluriverse.rfb.python_decoder import PythonDecoder

NATIVE = "pluriverse.rfb._native"


@pytest.fixture
def without_native(monkeypatch: pytest.MonkeyPatch) -> None:
    """None among the modules makes its import fail, as it does where it was not built."""
    monkeypatch.setitem(sys.modules, NATIVE, None)


def test_python_runs_where_the_environment_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "python")
    assert decoder_class() is PythonDecoder
    assert implementation() == "python: PLURIVERSE_RFB=python requests it"


@pytest.mark.usefixtures("without_native")
def test_python_runs_where_nothing_was_built_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    assert decoder_class() is PythonDecoder
    assert implementation().startswith("python: the native part was not built (ModuleNotFoundError: ")


@pytest.mark.usefixtures("without_native")
def test_native_that_was_not_built_is_refused_with_the_command_that_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "native")
    with pytest.raises(DecoderUnavailable, match="pip install"):
        decoder_class("native")
    with pytest.raises(RfbError):
        implementation()


def test_native_runs_where_it_was_built(monkeypatch: pytest.MonkeyPatch) -> None:
    native = pytest.importorskip("pluriverse.rfb._native", reason="the native part was not built")
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    assert decoder_class() is native.NativeDecoder
    assert decoder_class("python") is PythonDecoder
    assert implementation() == "native: it was built and is faster"
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "native")
    assert implementation() == "native: PLURIVERSE_RFB=native requests it"
