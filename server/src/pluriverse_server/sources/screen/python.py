"""Reads a region by a function of the runtime's own: ``read(picture, previous)`` in a Python file."""

from __future__ import annotations

import ast
import traceback
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any, Final, TypeGuard, cast

import numpy as np

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import Pixels, SourceError

FUNCTION: Final = "read"
_WANTED: Final = (
    "expected def read(picture, previous), which returns a value and the confidence in it: return 120, 0.97"
)


class PythonReader:
    """Calls the function of a file with pictures: uint8 of shape (height, width, 3), RGB, which it may change.

    The file is run once, when the reader is made. ``previous`` is the last value that the function returned, or None.
    """

    def __init__(self, path: Path, name: str) -> None:
        """``name`` is the source's, for errors; raise SourceError if there is no such function, or the file fails."""
        self._path = path
        self._previous: Value = None
        code = compiled(path, name)
        namespace: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
        try:
            exec(code, namespace)  # noqa: S102 - it is the runtime's own, as its program is
        except (Exception, SystemExit) as error:
            raise SourceError(f"{name}: {self._describe(error)}") from error
        self._function: Callable[[Any, Value], Any] = namespace[FUNCTION]

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return what the function returns; raise SourceError with its line if it fails, or returns something else."""
        try:
            answer = self._function(np.ascontiguousarray(pixels[..., 2::-1]), self._previous)
        except (Exception, SystemExit) as error:
            raise SourceError(self._describe(error)) from error
        match answer:
            case (said, sure):
                value, confidence = _plain(said), _plain(sure)
                if _is_value(value) and _is_share(confidence):
                    self._previous = value
                    return value, float(confidence)
            case _:
                pass
        raise SourceError(
            f"{self._path}: read returned {answer!r:.100}; expected a number, a string, True, False or None, and the "
            "confidence in it, 0 to 1: return 120, 0.97"
        )

    def _describe(self, error: BaseException) -> str:
        """Return where in the file something went wrong, and what."""
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(self._path)
        ]
        place = f"{self._path}, line {lines[-1]}" if lines else str(self._path)
        return f"{place}: {type(error).__name__}: {error}"


def compiled(path: Path, name: str) -> CodeType:
    """Return the code of a reader's file for source ``name``, without running it."""
    try:
        tree = ast.parse(path.read_bytes(), str(path))
        code = compile(tree, str(path), "exec")
    except OSError as error:
        raise SourceError(f"{name}: {path} can't be read: {error.strerror}; {_WANTED}") from None
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else error
        raise SourceError(f"{name}: {path}{line}: not Python: {what}") from None
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == FUNCTION]
    if not found:
        raise SourceError(f"{name}: {path} has no function {FUNCTION}; {_WANTED}")
    arguments = found[-1].args
    places = len(arguments.posonlyargs) + len(arguments.args)
    least, most = places - len(arguments.defaults), places if arguments.vararg is None else 2
    if not least <= 2 <= max(most, places) or any(default is None for default in arguments.kw_defaults):
        raise SourceError(f"{name}: {path}, line {found[-1].lineno}: {_WANTED}")
    return code


def _plain(value: Any) -> Any:
    """Return Python's number of one of NumPy's, which is what comes of a picture."""
    return cast("Any", value.item()) if isinstance(value, np.generic) else value


def _is_value(value: object) -> TypeGuard[Value]:
    return value is None or isinstance(value, (bool, int, float, str))


def _is_share(confidence: object) -> TypeGuard[float]:
    return isinstance(confidence, (int, float)) and not isinstance(confidence, bool) and 0 <= confidence <= 1
