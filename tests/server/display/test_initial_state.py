"""Everything that may be left in an X server is left there, by whoever would, and is gone afterwards."""

import os
import subprocess
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from pluriverse_server.display import Screen
from pluriverse_server.display.initial_state import InitialState
from pluriverse_server.x11.connection import hang_up, open_display
from pluriverse_server.x11.held_input import HeldInput
from pluriverse_server.x11.keyboard_controls import KeyboardControls
from pluriverse_server.x11.modifier_lock import KeyboardLocks, Locks
from support.rfb import RfbClient
from support.waiting import until
from support.xwindow import Window
from Xlib import XK, X
from Xlib.ext import randr, xtest

pytestmark = pytest.mark.display

SELECTIONS: Final = ("PRIMARY", "SECONDARY", "CLIPBOARD")
STICKY_KEYS: Final = 1 << 3


class Left:
    """A program that is there, with a connection and a window of its own, and a person with a viewer."""

    def __init__(self, screen: Screen, viewer: RfbClient) -> None:
        self.screen = screen
        self.viewer = viewer
        self.window = Window(screen.display, screen.xauthority)
        self.connection: Any = self.window.connection
        self.root: Any = self.connection.screen().root
        self.own: Any = self.window._window  # pyright: ignore[reportPrivateUsage]
        self.locks = KeyboardLocks(self.connection)

    def run(self, *command: str) -> None:
        subprocess.run(command, env={**os.environ, **self.screen.environment}, check=True, capture_output=True)

    def tap(self, keysym: int) -> None:
        """Press and release the first key that has this keysym in any column."""
        keycode = self.connection.keysym_to_keycode(keysym)
        for kind in (X.KeyPress, X.KeyRelease):
            xtest.fake_input(self.connection, kind, keycode)

    def done(self) -> None:
        """Return once the server has dealt with all that."""
        self.connection.sync()


@pytest.fixture
def left(screen: Screen) -> Iterator[Left]:
    with RfbClient("127.0.0.1", screen.options.vnc_port) as viewer:
        left = Left(screen, viewer)
        yield left
        hang_up(left.connection)


@pytest.fixture
def state(screen: Screen) -> Iterator[InitialState]:
    state = InitialState(screen.display, screen.xauthority)
    yield state
    state.close()


def everything(screen: Screen) -> dict[str, Any]:
    """All that a new client of the server can find out."""
    connection: Any = open_display(screen.display, screen.xauthority)
    try:
        root = connection.screen().root
        info = connection.display.info
        locks, controls = KeyboardLocks(connection), None
        controls = KeyboardControls(connection, locks.opcode)
        pointer, held = root.query_pointer(), HeldInput(connection).ask()
        place = HeldInput.place_of(held)
        keyboard, speed = connection.get_keyboard_control(), connection.get_pointer_control()
        saver, size = connection.get_screen_saver(), root.xrandr_get_screen_info()
        focus = connection.get_input_focus().focus
        compiled = subprocess.run(
            ["xkbcomp", "-xkb", screen.display, "-"],
            env={**os.environ, **screen.environment},
            check=True,
            capture_output=True,
        )
        return {
            "held": (bytes(connection.query_keymap()), pointer.mask, held[0].buttons),
            "place": place,
            "locks": locks.locks_of(locks.ask()),
            "controls": controls.values_of(controls.ask()),
            "keyboard": {k: v for k, v in keyboard._data.items() if k != "sequence_number"},
            "speed": {k: v for k, v in speed._data.items() if k != "sequence_number"},
            "saver": {k: v for k, v in saver._data.items() if k != "sequence_number"},
            "keys": [
                tuple(keysyms) for keysyms in connection.get_keyboard_mapping(info.min_keycode, info.max_keycode - 7)
            ],
            "modifiers": [sorted(keycode for keycode in each if keycode) for each in connection.get_modifier_mapping()],
            "buttons": list(connection.get_pointer_mapping()),
            "size": (size.sizes[size.size_id]._data, size.rotation, root.get_geometry().width),
            "focus": focus if isinstance(focus, int) else focus.id,
            "selections": [connection.get_selection_owner(connection.get_atom(name)) for name in SELECTIONS],
            "properties": {
                connection.get_atom_name(atom): (held := root.get_property(atom, 0, 0, 1 << 16)) and bytes(held.value)
                for atom in root.list_properties()
            },
            # Which keys repeat is among the controls; here only those are named that were ever set by themselves.
            "compiled": [line for line in compiled.stdout.decode().splitlines() if "repeat=" not in line],
        }
    finally:
        hang_up(connection)


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


# ── what input leaves ────────────────────────────────────────────────────────────────────────────────────────────────


def lock_a_layout(left: Left) -> None:
    left.run("setxkbmap", "us,de")
    left.locks.set(Locks(group=1))


def latch_a_modifier(left: Left) -> None:
    # ISO_Level3_Latch on a key, tapped.
    left.connection.change_keyboard_mapping(200, [(0xFE04, 0xFE04)])
    left.done()
    for kind in (X.KeyPress, X.KeyRelease):
        xtest.fake_input(left.connection, kind, 200)


def hold_keys(left: Left) -> None:
    for keysym in (XK.XK_Shift_L, XK.XK_Left, XK.XK_a):
        xtest.fake_input(left.connection, X.KeyPress, left.connection.keysym_to_keycode(keysym))


def hold_keys_over_vnc(left: Left) -> None:
    left.viewer.key(XK.XK_Left, True)
    left.viewer.key(XK.XK_Control_L, True)
    left.window.wait_for_held(2)


def hold_buttons(left: Left) -> None:
    for button in (1, 3, 8, 9):
        xtest.fake_input(left.connection, X.ButtonPress, button)


def hold_buttons_over_vnc(left: Left) -> None:
    left.viewer.pointer(30, 40, 0b101)
    # Not for its events: those of buttons that were held before may still come.
    until(lambda: left.root.query_pointer().mask, lambda mask: mask == X.Button1Mask | X.Button3Mask)


def let_keys_move_the_pointer(left: Left) -> None:
    keycode = left.connection.keysym_to_keycode(XK.XK_Num_Lock)
    shift = left.connection.keysym_to_keycode(XK.XK_Shift_L)
    for kind, key in ((X.KeyPress, shift), (X.KeyPress, keycode), (X.KeyRelease, keycode), (X.KeyRelease, shift)):
        xtest.fake_input(left.connection, kind, key)


Leave = Callable[[Left], object]

INPUT: Final[list[Leave]] = [
    lambda left: left.tap(XK.XK_Caps_Lock),
    lambda left: left.locks.set(Locks(0xFF)),
    lambda left: left.root.warp_pointer(3, 4),
    hold_keys,
    hold_keys_over_vnc,
    hold_buttons,
    hold_buttons_over_vnc,
    let_keys_move_the_pointer,
]


# ── what programs leave ──────────────────────────────────────────────────────────────────────────────────────────────


def own_selections(left: Left) -> None:
    for name in SELECTIONS:
        left.own.set_selection_owner(left.connection.get_atom(name), X.CurrentTime)


def set_properties(left: Left) -> None:
    atom = left.connection.get_atom
    left.root.change_property(atom("CUT_BUFFER0"), atom("STRING"), 8, b"cut")
    left.root.change_property(atom("RESOURCE_MANAGER"), atom("STRING"), 8, b"*font: 12x24\n")
    left.root.change_property(atom("GDK_VISUALS"), atom("INTEGER"), 32, [33, 34])
    left.root.delete_property(atom("_XKB_RULES_NAMES"))


def change_the_size(left: Left) -> None:
    info = left.root.xrandr_get_screen_info()
    left.root.xrandr_set_screen_config(len(info.sizes) - 1, randr.Rotate_0, info.config_timestamp)


def stop_repeats(left: Left) -> None:
    left.connection.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOff)
    left.connection.change_keyboard_control(key=38, auto_repeat_mode=X.AutoRepeatModeOff)


def change_how_fast_keys_repeat(left: Left) -> None:
    controls = KeyboardControls(left.connection, left.locks.opcode)
    switches, _, _, repeating = controls.values_of(controls.ask())
    controls.set((switches | STICKY_KEYS, 200, 20, repeating))


def change_bell_and_pointer_and_screen_saver(left: Left) -> None:
    left.connection.change_keyboard_control(bell_percent=3, bell_pitch=1000, bell_duration=7, key_click_percent=9)
    left.connection.change_pointer_control((7, 2), 9)
    left.connection.set_screen_saver(60, 30, X.DontPreferBlanking, X.DontAllowExposures)


def map_keys(left: Left) -> None:
    left.connection.change_keyboard_mapping(38, [(XK.XK_z, XK.XK_Z)])
    left.connection.change_keyboard_mapping(200, [(0x010003B1, 0x010003B1)])


def map_modifiers(left: Left) -> None:
    kept = [list(each) for each in left.connection.get_modifier_mapping()]
    kept[X.LockMapIndex], kept[X.ControlMapIndex] = kept[X.ControlMapIndex], kept[X.LockMapIndex]
    width = max(map(len, kept))
    left.connection.set_modifier_mapping([each + [0] * (width - len(each)) for each in kept])


PROGRAMS: Final[list[Leave]] = [
    own_selections,
    set_properties,
    change_the_size,
    stop_repeats,
    change_how_fast_keys_repeat,
    change_bell_and_pointer_and_screen_saver,
    map_keys,
    map_modifiers,
    lambda left: left.connection.set_pointer_mapping([3, 2, 1, *range(4, 11)]),
    latch_a_modifier,
    lambda left: left.run("setxkbmap", "-layout", "de,us", "-option", "grp:shifts_toggle,ctrl:swapcaps"),
    lock_a_layout,
]


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_what_is_left_is_gone(screen: Screen, left: Left, state: InitialState) -> None:
    before = everything(screen)
    for leave in (*INPUT, *PROGRAMS):
        leave(left)
        left.done()
        if leave is not change_the_size or screen.options.backend == "xvnc":  # Xvfb has one size
            assert differences(before, everything(screen)), leave
        state.restore()
        assert differences(before, everything(screen)) == {}, leave


async def test_what_was_kept_for_a_program_is_gone_when_another_starts(
    screen: Screen, left: Left, state: InitialState
) -> None:
    before = everything(screen)
    for leave in PROGRAMS:
        leave(left)
        state.keep()
        left.done()
        state.restore_screen()
        # Nothing has the focus then.
        assert differences(before, everything(screen)).keys() == {"focus"}, leave
