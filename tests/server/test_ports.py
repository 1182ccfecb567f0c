from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import psutil
import pytest
from pluriverse_server.ports import holder, require_free
from pluriverse_server.process import StartError
from support.ports import free_port


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def test_free_port_is_free_and_stays_so() -> None:
    port = free_port()
    for _ in range(2):
        require_free("rewarder", "127.0.0.1", port, "--rewarder-port")


def test_taken_port_names_its_holder_and_the_option_that_chooses_another(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    name = psutil.Process().name()
    with pytest.raises(StartError) as refused:
        require_free("rewarder", "127.0.0.1", port, "--rewarder-port")
    assert str(refused.value) == (
        f"the rewarder port 127.0.0.1:{port} is taken by {name} (process {os.getpid()}); "
        "choose another with --rewarder-port"
    )


def test_port_that_is_taken_on_one_address_is_not_free_on_all(listener: socket.socket) -> None:
    with pytest.raises(StartError, match="is taken by"):
        require_free("VNC", "0.0.0.0", listener.getsockname()[1], "--vnc-port")


def test_port_whose_last_connections_linger_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        served, _ = listening.accept()
        served.close()
        client.close()
    require_free("VNC", "127.0.0.1", port, "--vnc-port")


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "no such host"])
def test_address_that_this_machine_lacks_is_told_to_be_the_reason(host: str) -> None:
    with pytest.raises(StartError, match=r"can't be had: .+; choose another with --host"):
        require_free("VNC", host, free_port(), "--host")


def test_nobody_in_particular_holds_a_free_port() -> None:
    assert holder(free_port()) == "another program"
