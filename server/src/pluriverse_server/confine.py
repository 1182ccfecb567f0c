"""``python -I -S confine.py NETWORK COMMAND…``: becomes COMMAND, without privileges, with the network NETWORK.

NETWORK is ``none``, ``all``, or the number of the one TCP port to which it may connect.

Programs draw through Unix sockets. Whatever else they would reach from here, the machine's other ports for one, they
reach with the rights of the remote's user. Imports next to nothing (``typing`` alone takes as long as all of it),
because most children begin as this.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys

NONE, ALL = "none", "all"

# <sys/prctl.h>
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2

# <linux/capability.h>
_VERSION_3 = 0x20080522
_CAPABILITIES = 64

# <linux/landlock.h>; the numbers of its calls are the same on all processors.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CONNECT_TCP = 2
_RULE_NET_PORT = 2

# From <linux/capability.h>, as bits.
_CHOWN, _SETGID, _SETUID = 1 << 0, 1 << 6, 1 << 7

# <linux/filter.h>: load a word, jump if it equals or is at least a value, mask it, return.
_LOAD, _EQUALS, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06

# Where struct seccomp_data has the call's number, the processor, and the arguments of socket().
_NUMBER, _PROCESSOR, _FAMILY, _TYPE, _PROTOCOL = 0, 4, 16, 24, 32

# By processor: its number in <linux/audit.h>, and those of socket() and of io_uring_setup(), which opens sockets, too.
_PROCESSORS = {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}

# The second numbers of x86-64's calls, for x32, begin here.
_X32 = 0x40000000

# Numbers of <sys/socket.h>, whose module would take as long to import as everything else here.
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_SOCK_STREAM = 1
_TYPE_BITS = 0xF
_ANY_PROTOCOL, _TCP = 0, 6

# What the filter ends with, from <linux/seccomp.h>.
_ENDS = {"allow": 0x7FFF0000, "refuse": 0x00050000 | errno.EACCES, "unknown": 0x00050000 | errno.ENOSYS}


def main() -> None:
    network, *command = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    _drop_capabilities(libc)
    _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    tcp = network not in (NONE, ALL)
    if tcp:
        _allow_port(libc, int(network))
    processor = _PROCESSORS.get(os.uname().machine)
    if network != ALL and processor is not None:
        _refuse_sockets(libc, _filter(*processor, tcp=tcp))
    os.execvp(command[0], command)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    header, held = (ctypes.c_uint32 * 2)(_VERSION_3), (ctypes.c_uint32 * 6)()
    _check(libc.capget(header, held), "capget")
    # With root's it could look into any process. A terminal that runs as root needs these to hand over its device.
    kept = held[1] & (_CHOWN | _SETGID | _SETUID) if os.geteuid() == 0 else 0
    # Were there more for root to gain by becoming a program, each one would begin with another layout of its memory,
    # whatever was asked for: a preloaded clock needs the same. Only who may set them can drop them.
    for capability in range(_CAPABILITIES):
        if not kept >> capability & 1:
            libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    _check(libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept)), "capset")


def _allow_port(libc: ctypes.CDLL, port: int) -> None:
    """Let TCP connections go to one port number alone. Kernels before 6.7 can't: there they may go to any."""
    rights = (ctypes.c_uint64 * 2)(0, _CONNECT_TCP)
    ruleset = libc.syscall(_CREATE_RULESET, rights, ctypes.sizeof(rights), 0)
    if ruleset < 0:
        return
    rule = (ctypes.c_uint64 * 2)(_CONNECT_TCP, port)
    _check(libc.syscall(_ADD_RULE, ruleset, _RULE_NET_PORT, rule, 0), "landlock_add_rule")
    _check(libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _filter(processor: int, socket: int, io_uring_setup: int, *, tcp: bool) -> list[tuple[int, int, str, str]]:
    """Return the filter's lines: code, value, and where to go on if the comparison holds and if it doesn't."""
    lines = [
        (_LOAD, _PROCESSOR, "", ""),
        # A 32-bit program's calls have other numbers; it can't be run without a network.
        (_EQUALS, processor, "", "unknown"),
        (_LOAD, _NUMBER, "", ""),
        (_AT_LEAST, _X32, "unknown", ""),
        (_EQUALS, io_uring_setup, "unknown", ""),
        (_EQUALS, socket, "", "allow"),
        (_LOAD, _FAMILY, "", ""),
        (_EQUALS, _AF_UNIX, "allow", ""),
        # Reads the machine's addresses, and sends nothing.
        (_EQUALS, _AF_NETLINK, "allow", "" if tcp else "refuse"),
    ]
    if tcp:
        lines += [
            (_EQUALS, _AF_INET, "tcp", ""),
            (_EQUALS, _AF_INET6, "tcp", "refuse"),
            (_LOAD, _TYPE, "", ""),
            (_AND, _TYPE_BITS, "", ""),
            (_EQUALS, _SOCK_STREAM, "", "refuse"),
            (_LOAD, _PROTOCOL, "", ""),
            (_EQUALS, _ANY_PROTOCOL, "allow", ""),
            (_EQUALS, _TCP, "allow", "refuse"),
        ]
    return lines


def _refuse_sockets(libc: ctypes.CDLL, lines: list[tuple[int, int, str, str]]) -> None:
    places = {name: len(lines) + index for index, name in enumerate(_ENDS)}
    # What is allowed of TCP follows on the questions for the family.
    places["tcp"] = next((index for index, line in enumerate(lines) if line[:2] == (_LOAD, _TYPE)), 0)
    lines += [(_RETURN, value, "", "") for value in _ENDS.values()]
    packed = bytearray()
    for index, (code, value, *ways) in enumerate(lines):
        steps = bytes(places[way] - index - 1 if way else 0 for way in ways)
        packed += code.to_bytes(2, sys.byteorder) + steps + value.to_bytes(4, sys.byteorder)
    instructions = ctypes.create_string_buffer(bytes(packed), len(packed))
    program = _Program(len(lines), ctypes.addressof(instructions))
    _check(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0), "seccomp")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def _check(result: int, what: str) -> None:
    if result < 0:
        sys.exit(f"the program can't be confined: {what}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main()
