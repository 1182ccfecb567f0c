"""The environments that a server's clients may begin: those whose ids match one of some patterns."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Iterator, Sequence
from typing import Final

from pluriverse import catalogue
from pluriverse.errors import ConfigurationError
from pluriverse.runtimes import listed, local_runtimes, named_environments, runtime_of

_STARTED_HERE: Final = re.compile(r"((local|docker):)?[0-9]+(\?.*)?")

# How many ids an error names, and how much like the wanted one they are.
_NEAREST: Final = 3
_SIMILAR: Final = 0.5


class Offered:
    """What ``patterns`` name; ``ids`` are those of them that are known here, sorted."""

    def __init__(self, patterns: Sequence[str], remotes: str) -> None:
        """``remotes``: where they run. Those that aren't started here may have runtimes that aren't known here.

        Raises:
            ConfigurationError: a pattern matches no environment; with the nearest ids.
            CatalogueError: a runtime failed to list its environments.
        """
        self.patterns: tuple[str, ...] = tuple(patterns)
        self._all_known = _STARTED_HERE.fullmatch(remotes) is not None
        known = sorted(set(_known(self.patterns, installed=self._all_known)))
        self.ids: list[str] = [env_id for env_id in known if self._matches(env_id)]
        families = set(map(_family, known))
        for pattern in patterns:
            if not fnmatch.filter(known, pattern) and (self._all_known or _family(pattern) in families):
                raise ConfigurationError(
                    f"no environment matches {pattern!r}{_nearest(pattern, known)}; list all with: pluriverse envs"
                )

    def require(self, env_id: str) -> None:
        """Raise ConfigurationError, with the nearest ids, if an environment isn't allowed."""
        if not self._matches(env_id) or (self._all_known and env_id not in self.ids):
            raise ConfigurationError(
                f"the environment {env_id!r:.200} isn't allowed{_nearest(env_id, self.ids)}; "
                f"allowed are: {', '.join(self.patterns) or 'none'}"
            )

    def _matches(self, env_id: str) -> bool:
        return any(fnmatch.fnmatchcase(env_id, pattern) for pattern in self.patterns)


def _known(patterns: Sequence[str], *, installed: bool) -> Iterator[str]:
    """Yield the ids that are listed already; only runtimes that aren't ours are asked, if need be: it takes a second.

    ``installed``: without those whose runtime isn't on this machine.
    """
    shipped = listed()
    runtimes = catalogue.runtimes() if patterns else []
    yield from (env_id for env_id in shipped if not installed or runtime_of(env_id) in runtimes)
    folders = local_runtimes()
    for runtime in set(runtimes) - set(map(runtime_of, shipped)):
        if any(fnmatch.fnmatchcase(runtime, _family(pattern)) for pattern in patterns):
            named = named_environments(folders[runtime]) if runtime in folders else {}
            yield from named or (str(entry["id"]) for entry in catalogue.environments(runtime))


def _family(env_id: str) -> str:
    return env_id.partition(".")[0]


def _nearest(wanted: str, ids: Sequence[str]) -> str:
    word = wanted.strip("*").casefold()
    near = difflib.get_close_matches(wanted, ids, _NEAREST, _SIMILAR)
    near = near or [env_id for env_id in ids if word and word in env_id.casefold()][:_NEAREST]
    return f"; the nearest: {', '.join(near)}" if near else ""
