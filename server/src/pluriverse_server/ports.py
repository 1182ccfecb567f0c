"""Whether a TCP port can be had, and who has it if not."""

from __future__ import annotations

import errno
import socket

from .process import StartError


def require_free(what: str, host: str, port: int, option: str) -> None:
    """Make sure that ``port`` can be listened on.

    Raises:
        StartError: it can't; says who has it, and with which ``option`` to choose another.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the servers do: a port whose last connections linger is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                reason = f"is taken by {holder(port)}"
            else:
                reason = f"can't be had: {error.strerror}"
            raise StartError(f"the {what} port {host}:{port} {reason}; choose another with {option}") from None


def holder(port: int) -> str:
    """Who listens on ``port``, as far as this user may know."""
    import psutil

    try:
        connections = psutil.net_connections("tcp")
    except psutil.AccessDenied:
        return "another program"
    for connection in connections:
        # The address of a socket that is bound to none is an empty tuple.
        address = connection.laddr
        if connection.status == psutil.CONN_LISTEN and connection.pid and address and address.port == port:
            try:
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
            except psutil.NoSuchProcess:
                break
    return "another program"
