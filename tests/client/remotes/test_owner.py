import os
import subprocess
import sys

import pytest
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
    host, boot, namespace, pid, start = this_process().split(":")
    assert is_dead(f"{host}:{boot}:{namespace}:{pid}:{int(start) - 1}")
    assert is_dead(f"{host}:another-boot:{namespace}:{pid}:{start}")


def test_of_other_machines_nothing_is_known() -> None:
    assert not is_dead("elsewhere:boot:1:1:1")
    assert not is_dead("")


def test_of_other_namespaces_nothing_is_known() -> None:
    host, boot, namespace, pid, start = this_process().split(":")
    assert not is_dead(f"{host}:{boot}:{int(namespace) + 1}:{pid}:{int(start) - 1}")
    # An older version's names say nothing of the namespace.
    assert not is_dead(f"{host}:{boot}:{pid}:{int(start) - 1}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes PID namespaces")
@pytest.mark.parametrize("options", [["--mount-proc"], []], ids=["own /proc", "/proc of the machine"])
def test_owner_in_another_namespace_is_never_taken_for_dead(options: list[str]) -> None:
    code = "import sys; from pluriverse.remotes.owner import *; print(this_process()); print(is_dead(sys.argv[1]))"
    command = ["unshare", "--pid", "--fork", *options, sys.executable, "-c", code, this_process()]
    theirs, sees_us_dead = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert sees_us_dead == "False"
    # It has ended, which nobody here can see.
    assert not is_dead(theirs)
