"""Grades a task's recording again, by what its check looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pluriverse_protocol.recordings import MalformedRecording
from pluriverse_protocol.reports import EVIDENCE
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.sources.evidence import unpacked
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.task import Assignment

from pluriverse_authoring.recording.replay import Replay


def regrade(directory: Path, manifest: Manifest, path: Path) -> str | None:
    """Return how the grade of a recording's episode differs now, or why there is none; "" if it doesn't.

    None: it isn't a recording of one of the runtime's tasks, or can't be read.
    """
    end: dict[str, Any] = {}
    try:
        replay = Replay(path)
        env_id = replay.header.env_id
        if env_id not in {entry.id for entry in manifest.envs} or (task := manifest.game(env_id).task) is None:
            return None
        for moment in replay.moments():
            end = next((said for _, said in moment.said if said.get("event") == "end"), end)
    except (OSError, MalformedRecording):
        return None
    earned = float(end.get("reward", 0.0))
    if not (evidence := end.get(EVIDENCE)):
        return "" if evidence is None and not earned else f"earned {earned:g}; what was graded was not kept"
    try:
        with unpacked(str(evidence), replay.frame[..., 2::-1].copy()) as (parameters, look):
            assignment = Assignment(task, directory, env_id, look.home)
            assignment.parameters = parameters
            share = assignment.check(look)
    except (SourceError, ValueError) as error:
        return f"earned {earned:g}; can't be graded now: {error}"
    return "" if abs(share - earned) < 1e-6 else f"earned {earned:g}, would earn {share:g} now"
