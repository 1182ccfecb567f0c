"""What all tests share."""

from __future__ import annotations

import signal

from hypothesis import settings

# Nothing is judged by its speed: other tests may share the machine.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# Jobs that a shell runs in the background ignore Ctrl-C, and hand that on to every program that they start. The tests
# that press it mean programs started by a person.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
