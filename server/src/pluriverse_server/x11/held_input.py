"""The held keys and buttons of an X server and its pointer's position; and their release.

python-xlib lacks these requests. https://www.x.org/releases/current/doc/inputproto/XI2proto.txt, and of XTEST
https://www.x.org/releases/current/doc/xextproto/xtest.html
"""

from __future__ import annotations

from typing import Any, Final, cast

from Xlib.display import Display
from Xlib.ext import xinput, xtest
from Xlib.protocol import request, rq

from .connection import DisplayLost
from .raw_input import XI_VERSION

# Buttons go up to nine: the wheel is four of them, and two go back and forward.
BUTTONS: Final = range(1, 10)
KEYCODES: Final = range(8, 256)

# XI.h: events of devices follow the extension's first, which is for valuators.
_DEVICE_KEY_RELEASE: Final = 2
_DEVICE_BUTTON_RELEASE: Final = 4


class _QueryPointer(rq.ReplyRequest):
    _request = rq.Struct(
        rq.Card8("opcode"), rq.Opcode(40), rq.RequestLength(), rq.Card32("window"), rq.Card16("device"), rq.Pad(2)
    )
    _reply = rq.Struct(
        rq.ReplyCode(),
        rq.Pad(1),
        rq.Card16("sequence_number"),
        rq.ReplyLength(),
        rq.Pad(8),
        rq.Int32("x"),
        rq.Int32("y"),
        rq.Pad(32),
        rq.Card32("buttons"),
    )


class _FakeDeviceInput(rq.Request):
    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(2),
        rq.RequestLength(),
        rq.Card8("event"),
        rq.Card8("detail"),
        rq.Pad(29),
        rq.Card8("device"),
    )


class HeldInput:
    """Asks for what is held, and lets go of it on whichever device it is. Requests go out with the next ones."""

    def __init__(self, connection: Display) -> None:
        self._connection = cast("Any", connection)
        display = self._connection.display
        found = connection.query_extension(xinput.extname)
        if found is None:
            raise DisplayLost(f"the X server lacks the extension {xinput.extname}")
        self._opcode: int = found.major_opcode
        self._first_event: int = found.first_event
        major, minor = XI_VERSION
        xinput.XIQueryVersion(display=display, opcode=self._opcode, major_version=major, minor_version=minor)
        devices = self._connection.xinput_query_device(xinput.AllDevices).devices
        # How far the numbers of keys and buttons go on each device.
        self._keyboards = {each.deviceid: KEYCODES[-1] for each in devices if each.use == xinput.SlaveKeyboard}
        self._pointers = {each.deviceid: _buttons_of(each) for each in devices if each.use == xinput.SlavePointer}
        self._master = next(each.deviceid for each in devices if each.use == xinput.MasterPointer)
        self._root: int = connection.screen().root.id

    def ask(self) -> tuple[Any, Any]:
        display = self._connection.display
        pointer = _QueryPointer(display, True, opcode=self._opcode, window=self._root, device=self._master)
        return pointer, request.QueryKeymap(display, True)

    @staticmethod
    def place_of(asked: tuple[Any, Any]) -> tuple[int, int]:
        """Return where the pointer is; waits for the answer."""
        pointer, _ = asked
        pointer.reply()
        return pointer.x >> 16, pointer.y >> 16

    def release(self, asked: tuple[Any, Any]) -> bool:
        """Let go of everything that is held; returns whether anything was. Waits for the answer."""
        pointer, keymap = asked
        pointer.reply()
        keymap.reply()
        keys = bytes(keymap.map)
        held = [(_DEVICE_KEY_RELEASE, self._keyboards, key) for key in KEYCODES if keys[key // 8] >> key % 8 & 1]
        held += [(_DEVICE_BUTTON_RELEASE, self._pointers, each) for each in BUTTONS if pointer.buttons >> each & 1]
        for event, devices, detail in held:
            for device in (device for device, last in devices.items() if detail <= last):
                _FakeDeviceInput(
                    display=self._connection.display,
                    opcode=self._connection.display.get_extension_major(xtest.extname),
                    event=self._first_event + event,
                    detail=detail,
                    device=device,
                )
        return bool(held)


def _buttons_of(device: Any) -> int:
    return next((len(each.labels) for each in device.classes if each.type == xinput.ButtonClass), 0)
