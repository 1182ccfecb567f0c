"""Questions to programs on a D-Bus, each with a time limit; what is answered has the type that was asked for."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from jeepney import DBusAddress, HeaderFields, MessageType, Properties, new_method_call
from jeepney.auth import AuthenticationError
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.low_level import Message

# A program answers between two frames, in under a millisecond; one that doesn't in this time is frozen.
CALL_TIMEOUT_S: Final = 1.0


class BusLost(Exception):
    """The bus is not there, or lets nobody in."""


@dataclass(frozen=True, slots=True)
class Place:
    """An object on the bus: its owner's name, and its path."""

    owner: str
    path: str


class Bus:
    """A connection to the bus at ``address``; every question raises ``BusLost`` once that has ended."""

    def __init__(self, address: str) -> None:
        try:
            # jeepney takes an address as it is, and misses what is escaped in it.
            self._connection: DBusConnection = open_dbus_connection(bus=unquote(address))
        except (OSError, AuthenticationError, RuntimeError, ValueError) as error:
            raise BusLost(f"no connection to {address}: {error}") from error

    def ask(self, place: Place, method: str, answer: str, *arguments: Any, signature: str | None = None) -> Any:
        """What ``method`` (with its interface) of an object returns, if that is one value of the type ``answer``.

        None, if it is another, or an error: most often the object or its program is gone.

        Raises:
            TimeoutError: there was no answer.
            BusLost: the bus has ended.
        """
        interface, _, name = method.rpartition(".")
        return self._reply(lambda: new_method_call(_address(place, interface), name, signature, arguments), answer)

    def get(self, place: Place, name: str) -> str | None:
        """The property ``name`` (with its interface), if it is a string; raises as ``ask`` does."""
        interface, _, name = name.rpartition(".")
        found = self._reply(lambda: Properties(_address(place, interface)).get(name), "v")
        return found[1] if found is not None and found[0] == "s" else None

    def switch_on(self, place: Place, name: str) -> bool:
        """Make the property ``name`` true; whether that was done. Raises as ``ask`` does."""
        interface, _, name = name.rpartition(".")
        question = Properties(_address(place, interface)).set(name, "b", True)
        return self._send(question).header.message_type is MessageType.method_return

    def close(self) -> None:
        """Leave the bus."""
        self._connection.close()

    def _reply(self, make: Callable[[], Message], answer: str) -> Any:
        try:
            reply = self._send(make())
        except ValueError:
            # A name or a path that can't be one: programs say which their widgets have.
            return None
        signature = reply.header.fields.get(HeaderFields.signature)
        if reply.header.message_type is not MessageType.method_return or signature != answer:
            return None
        return reply.body[0]

    def _send(self, question: Message) -> Message:
        try:
            return self._connection.send_and_get_reply(question, timeout=CALL_TIMEOUT_S)
        except TimeoutError:
            raise
        except OSError as error:
            raise BusLost(f"the bus has ended: {error}") from error


def _address(place: Place, interface: str) -> DBusAddress:
    return DBusAddress(place.path, place.owner, interface)
