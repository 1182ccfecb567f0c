"""What a program proposed for a recording's sources: NAME.proposals.json. It is no label until a person says so."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.authoring.labels import MAX_LABELS, MAX_LABELS_BYTES, Text, Time, beside
from pluriverse_server.manifest.game import SourceName
from pluriverse_server.manifest.runtime import describe
from pluriverse_server.manifest.sources import MAX_SOURCES, Share
from pluriverse_server.manifest.table import Table

PROPOSALS_SUFFIX: Final = ".proposals.json"

# From when on, what, and how sure the program is.
Proposal = tuple[Time, bool | float | Text, Share]


class Proposals(Table):
    """Each source's proposals by time, and the command that they are ``by``."""

    by: Annotated[dict[SourceName, Text], Field(max_length=MAX_SOURCES)] = {}
    sources: Annotated[
        dict[SourceName, Annotated[list[Proposal], Field(max_length=MAX_LABELS)]], Field(max_length=MAX_SOURCES)
    ] = {}


def proposals_path(recording: Path) -> Path:
    """Return the path of a recording's proposals."""
    return beside(recording, PROPOSALS_SUFFIX)


def read_proposals(recording: Path) -> Proposals:
    """Return a recording's proposals, none if there is no file; raise AuthoringError if it can't be used."""
    path = proposals_path(recording)
    try:
        if path.stat().st_size > MAX_LABELS_BYTES:
            raise AuthoringError(f"{path}: over {MAX_LABELS_BYTES} bytes")
        return Proposals.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Proposals()
    except OSError as error:
        raise AuthoringError(f"{path}: can't be read: {error.strerror}") from error
    except ValidationError as error:
        raise AuthoringError(describe(path, error)) from None
