from __future__ import annotations

import os
import subprocess
import sys

from pluriverse.remotes.owner import is_dead, owner_of, this_process


def test_this_process_lives() -> None:
    assert this_process() == owner_of(os.getpid())
    assert not is_dead(this_process())


def test_process_that_has_ended_is_dead_even_before_it_is_reaped() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = owner_of(process.pid)
    assert owner is not None
    assert not is_dead(owner)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(owner)
    process.communicate()
    assert is_dead(owner)


def test_id_that_is_used_again_is_another_process() -> None:
    host, boot, pid, start = this_process().rsplit(":", 3)
    assert is_dead(f"{host}:{boot}:{pid}:{int(start) - 1}")
    assert is_dead(f"{host}:another-boot:{pid}:{start}")


def test_of_other_machines_nothing_is_known() -> None:
    assert not is_dead("elsewhere:boot:1:1")
    assert not is_dead("")
