"""Keeps a remote's password and tokens from the programs that it runs, which may run as the same user."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pluriverse_protocol.rfb.security import generate_password

from pluriverse_server.access.tokens import Token, TokensError, parse_tokens
from pluriverse_server.remote import token_file
from pluriverse_server.settings import SettingsError

PASSWORD_VARIABLE: Final = "PLURIVERSE_PASSWORD"  # noqa: S105 - its name
TOKENS_VARIABLE: Final = "PLURIVERSE_TOKENS"

# <sys/prctl.h>
_PR_SET_DUMPABLE: Final = 4
_PR_CAP_AMBIENT: Final = 47
_PR_CAP_AMBIENT_CLEAR_ALL: Final = 4

# Where /proc/PID/stat has the addresses of the command line and of the environment, counted from the state.
_ARGUMENTS_START: Final = 45
_ENVIRONMENT_END: Final = 48


def with_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``Settings`` with the password and the tokens that they name."""
    password = options["password"] or read_password(options["password_file"])
    tokens = read_tokens(options["tokens_file"], password)
    return {**options, "password": password or (generate_password() if tokens is None else None), "tokens": tokens}


def read_password(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text().rstrip("\r\n")
    except (OSError, ValueError) as error:
        raise SettingsError(f"the password's file {path} can't be read: {error}") from error


def read_tokens(path: Path | None, password: str | None) -> tuple[Token, ...] | None:
    text = os.environ.get(TOKENS_VARIABLE)
    try:
        if path is not None and text:
            raise SettingsError(f"tokens are both in {path} and in {TOKENS_VARIABLE}; give one of them")
        if path is not None:
            return token_file.read_tokens(path, password)
        return parse_tokens(text, password) if text else None
    except TokensError as error:
        raise SettingsError(f"{TOKENS_VARIABLE}: {error}" if text else str(error)) from None


def keep_secret(password: str | None) -> None:
    """Close this process to others of its user, and blank password and tokens in what it was started with.

    Children no longer inherit capabilities, nor the secrets.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    for variable in (PASSWORD_VARIABLE, TOKENS_VARIABLE):
        if secret := os.environ.pop(variable, None):
            _blank(os.fsencode(secret))
    if password:
        _blank(password.encode())
    # Neither /proc nor ptrace shows such a process to anyone without CAP_SYS_PTRACE.
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)


def _blank(secret: bytes) -> None:
    """Overwrite the secret in the memory that /proc/PID/cmdline and /proc/PID/environ show."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[_ARGUMENTS_START]), int(fields[_ENVIRONMENT_END])
    position = start
    for item in ctypes.string_at(start, end - start).split(b"\0"):
        for name in (f"{PASSWORD_VARIABLE}=".encode(), f"{TOKENS_VARIABLE}=".encode(), b"--password=", b""):
            if item == name + secret:
                ctypes.memset(position + len(name), ord("*"), len(secret))
        position += len(item) + 1
