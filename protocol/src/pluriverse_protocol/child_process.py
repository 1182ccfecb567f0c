"""How child processes are wrapped, which environment they get, and how their ends are described. Pure."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from typing import Final

SETPRIV: Final = "setpriv"
SETPRIV_PACKAGE: Final = "util-linux"

# Names variables, with commas between them, that children get as this process has them; and so do their children.
PASSED_ON_VARIABLE: Final = "PLURIVERSE_PROGRAM_ENV"

# The same on every machine, for the same seed is to give the same pictures.
_FIXED: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"}

# Paths of this machine, and its processor, since an older OpenBLAS crashes without it.
_OF_THE_MACHINE: Final = ("PATH", "HOME", "TMPDIR", "OPENBLAS_CORETYPE")

# How the internet is reached from here, and whom to trust there. Proxies have two spellings.
_PROXIES: Final = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
_CERTIFICATES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
_OF_THE_NETWORK: Final = (*_PROXIES, *(name.upper() for name in _PROXIES), *_CERTIFICATES)


def dying_with_parent(command: Sequence[str], signum: signal.Signals, setpriv: str = SETPRIV) -> list[str]:
    """Return ``command`` wrapped so that the kernel sends it ``signum`` when the thread that forked it ends.

    setpriv sets that between fork and exec, which Python can't do safely itself.
    """
    return [setpriv, "--pdeathsig", signum.name.removeprefix("SIG"), "--", *command]


def child_environment(
    inherited: Mapping[str, str], extra: Mapping[str, str], *, network: bool = False
) -> dict[str, str]:
    """Return a child's whole environment: what each gets, what it is to get of ``inherited``, and ``extra``.

    ``network``: whether it may use the internet, and so gets the proxies and certificates.
    """
    passed_on = inherited.get(PASSED_ON_VARIABLE, "").replace(",", " ").split()
    names = (*_OF_THE_MACHINE, *(_OF_THE_NETWORK if network else ()), PASSED_ON_VARIABLE, *passed_on)
    return _FIXED | {name: inherited[name] for name in names if inherited.get(name)} | dict(extra)


def describe_exit(returncode: int) -> str:
    """Return ``exit status 3`` or, for a negative code as ``subprocess`` has it, ``killed by SIGKILL``."""
    if returncode >= 0:
        return f"exit status {returncode}"
    # Most real-time signals have no name.
    known = -returncode in signal.Signals.__members__.values()
    return f"killed by {signal.Signals(-returncode).name if known else f'signal {-returncode}'}"
