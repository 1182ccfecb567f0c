"""The environments of a runtime, from its manifest or from the script that the manifest names."""

from __future__ import annotations

import fnmatch
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from pluriverse_server.manifest.runtime import FILE_NAME, EnvTable, Manifest, ManifestError, describe
from pluriverse_server.process import StartError, TooMuchOutput, run

# A thousand environments print 100 KB; this is some thousand times that.
MAX_OUTPUT_BYTES: Final = 64 * 1024 * 1024

_ENTRIES: Final = TypeAdapter(list[EnvTable])

_SUGGESTIONS: Final = 3


def python_command(command: list[str]) -> list[str]:
    """Replace ``python`` by the interpreter of this daemon, whose packages the runtime relies on."""
    return [sys.executable, *command[1:]] if command[0] in ("python", "python3") else command


async def load_catalogue(directory: Path, manifest: Manifest) -> Mapping[str, EnvTable]:
    path = directory / FILE_NAME
    entries = manifest.envs
    if manifest.catalogue is not None:
        output = await _run(directory, manifest.catalogue.command, manifest.catalogue.timeout_s)
        try:
            document: Any = json.loads(output)
            entries = _ENTRIES.validate_python(document)
        except ValidationError as error:
            raise ManifestError(describe(path, error, "catalogue's output ")) from None
        except (ValueError, RecursionError) as error:
            raise ManifestError(f"{path}: catalogue.command didn't print JSON: {error}") from None
    catalogue: dict[str, EnvTable] = {}
    for entry in entries:
        if entry.id in catalogue:
            raise ManifestError(f"{path}: the environment {entry.id!r} is listed twice")
        catalogue[entry.id] = entry
    if manifest.runtime.default_env not in catalogue:
        raise ManifestError(
            f"{path}: runtime.default_env {manifest.runtime.default_env!r} is not among its environments"
        )
    return catalogue


def require_environment(manifest: Manifest, catalogue: Mapping[str, EnvTable], env_id: str | None) -> str:
    env_id = env_id or manifest.runtime.default_env
    if env_id not in catalogue:
        raise ManifestError(refusal(manifest, catalogue, env_id))
    return env_id


def refusal(manifest: Manifest, catalogue: Mapping[str, EnvTable], wanted: str) -> str:
    """Return the message about an environment that the catalogue lacks: the nearest, and the reason if known."""
    reasons = [f". {missing.why}" for missing in manifest.missing if fnmatch.fnmatchcase(wanted, missing.ids)]
    return (
        f"unknown environment {wanted!r}; runtime {manifest.runtime.id} has "
        f"{len(catalogue)}, such as {suggest(catalogue, wanted)}{''.join(reasons[:1])}"
    )


def suggest(catalogue: Mapping[str, EnvTable], wanted: str) -> str:
    """Return a few ids that begin like ``wanted``, for an error message."""
    # Edit distances to a thousand ids would block the event loop for a frame.
    for length in range(len(wanted), 0, -1):
        prefix = wanted[:length].casefold()
        close = [env_id for env_id in catalogue if env_id.casefold().startswith(prefix)]
        if close:
            return ", ".join(close[:_SUGGESTIONS])
    return ", ".join(list(catalogue)[:_SUGGESTIONS])


async def _run(directory: Path, command: list[str], timeout_s: float) -> bytes:
    what = f"{directory / FILE_NAME}: catalogue.command ({' '.join(command)})"
    try:
        finished = await run(
            python_command(command),
            cwd=directory,
            timeout_s=timeout_s,
            max_bytes=MAX_OUTPUT_BYTES,
        )
    except StartError as error:
        raise ManifestError(f"{what} could not be run: {error}") from error
    except TimeoutError:
        raise ManifestError(f"{what} ran for over {timeout_s:g} s") from None
    except TooMuchOutput:
        raise ManifestError(f"{what} printed over {MAX_OUTPUT_BYTES} bytes") from None
    if finished.returncode != 0:
        last_line = finished.errors.strip().rpartition("\n")[2]
        raise ManifestError(f"{what} ended with status {finished.returncode}: {last_line}")
    return finished.output
