from __future__ import annotations

import threading

from pluriverse.rewarder.signal import Signal

DEADLINE_S = 10.0


def test_what_happened_before_the_wait_is_not_missed() -> None:
    signal = Signal()
    seen = signal.count
    signal.notify()
    assert signal.wait_beyond(seen, 0.0)
    assert not signal.wait_beyond(signal.count, 0.0)


def test_waiter_is_woken_from_another_thread() -> None:
    signal = Signal()
    seen = signal.count
    notifier = threading.Timer(0.01, signal.notify)
    notifier.start()
    assert signal.wait_beyond(seen, DEADLINE_S)
    notifier.join()
