"""Structures and constants of X11/Xlib.h, X11/extensions/XShm.h and XInput2.h, as far as the kit uses them."""

from __future__ import annotations

import ctypes
from ctypes import Structure, Union, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p
from typing import Final

Z_PIXMAP: Final = 2
LSB_FIRST: Final = 0
CW_OVERRIDE_REDIRECT: Final = 1 << 9
QUEUED_ALREADY: Final = 0
SHAPE_INPUT: Final = 2
SHAPE_SET: Final = 0
UNSORTED: Final = 0
KEY_PRESS: Final = 2
KEY_RELEASE: Final = 3
MAPPING_NOTIFY: Final = 34
GENERIC_EVENT: Final = 35
XI_ALL_MASTER_DEVICES: Final = 1
XI_RAW_KEY_PRESS: Final = 13
XI_RAW_KEY_RELEASE: Final = 14
XI_KEY_REPEAT: Final = 1 << 16


class XVisual(Structure):
    """How the server's pixels are laid out."""

    _fields_ = (
        ("ext_data", c_void_p),
        ("visualid", c_ulong),
        ("visual_class", c_int),
        ("red_mask", c_ulong),
        ("green_mask", c_ulong),
        ("blue_mask", c_ulong),
        ("bits_per_rgb", c_int),
        ("map_entries", c_int),
    )


class XSetWindowAttributes(Structure):
    """What XChangeWindowAttributes may change."""

    _fields_ = (
        ("background_pixmap", c_ulong),
        ("background_pixel", c_ulong),
        ("border_pixmap", c_ulong),
        ("border_pixel", c_ulong),
        ("bit_gravity", c_int),
        ("win_gravity", c_int),
        ("backing_store", c_int),
        ("backing_planes", c_ulong),
        ("backing_pixel", c_ulong),
        ("save_under", c_int),
        ("event_mask", c_long),
        ("do_not_propagate_mask", c_long),
        ("override_redirect", c_int),
        ("colormap", c_ulong),
        ("cursor", c_ulong),
    )


class XColor(Structure):
    """A colour of a cursor."""

    _fields_ = (
        ("pixel", c_ulong),
        ("red", ctypes.c_ushort),
        ("green", ctypes.c_ushort),
        ("blue", ctypes.c_ushort),
        ("flags", ctypes.c_char),
        ("pad", ctypes.c_char),
    )


class XImage(Structure):
    """Filled in here and finished by XInitImage, so that Xlib allocates nothing and frees nothing of it."""

    _fields_ = (
        ("width", c_int),
        ("height", c_int),
        ("xoffset", c_int),
        ("format", c_int),
        ("data", c_void_p),
        ("byte_order", c_int),
        ("bitmap_unit", c_int),
        ("bitmap_bit_order", c_int),
        ("bitmap_pad", c_int),
        ("depth", c_int),
        ("bytes_per_line", c_int),
        ("bits_per_pixel", c_int),
        ("red_mask", c_ulong),
        ("green_mask", c_ulong),
        ("blue_mask", c_ulong),
        ("obdata", c_void_p),
        ("functions", c_void_p * 6),
    )


class XShmSegmentInfo(Structure):
    """A shared memory segment that both processes know."""

    _fields_ = (("shmseg", c_ulong), ("shmid", c_int), ("shmaddr", c_void_p), ("read_only", c_int))


class XErrorEvent(Structure):
    """Why the server refused a request."""

    _fields_ = (
        ("type", c_int),
        ("display", c_void_p),
        ("resourceid", c_ulong),
        ("serial", c_ulong),
        ("error_code", ctypes.c_ubyte),
        ("request_code", ctypes.c_ubyte),
        ("minor_code", ctypes.c_ubyte),
    )


class XGenericEventCookie(Structure):
    """An event whose contents XGetEventData fetches."""

    _fields_ = (
        ("type", c_int),
        ("serial", c_ulong),
        ("send_event", c_int),
        ("display", c_void_p),
        ("extension", c_int),
        ("evtype", c_int),
        ("cookie", c_uint),
        ("data", c_void_p),
    )


class XKeyEvent(Structure):
    """A key went down or up, for a window or a grab."""

    _fields_ = (
        ("type", c_int),
        ("serial", c_ulong),
        ("send_event", c_int),
        ("display", c_void_p),
        ("window", c_ulong),
        ("root", c_ulong),
        ("subwindow", c_ulong),
        ("time", c_ulong),
        ("x", c_int),
        ("y", c_int),
        ("x_root", c_int),
        ("y_root", c_int),
        ("state", c_uint),
        ("keycode", c_uint),
        ("same_screen", c_int),
    )


class XEvent(Union):
    """Any event."""

    _fields_ = (("type", c_int), ("key", XKeyEvent), ("cookie", XGenericEventCookie), ("pad", c_long * 24))


class XIRawEvent(Structure):
    """As far as it is read here; valuators follow."""

    _fields_ = (
        ("type", c_int),
        ("serial", c_ulong),
        ("send_event", c_int),
        ("display", c_void_p),
        ("extension", c_int),
        ("evtype", c_int),
        ("time", c_ulong),
        ("deviceid", c_int),
        ("sourceid", c_int),
        ("detail", c_int),
        ("flags", c_int),
    )


class XIEventMask(Structure):
    """Which events to send for which devices; bit n of the mask is event n."""

    _fields_ = (("deviceid", c_int), ("mask_len", c_int), ("mask", c_char_p))
