from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.lease import STOPPED, LeaseKeeper
from pluriverse.remotes.swarm.remote import SwarmRemote
from support.served import PASSWORD, serving


async def test_lease_on_a_task_that_comes_after_the_end_is_given_back(tmp_path: Path) -> None:
    with contextlib.closing(LeaseKeeper()) as keeper:
        # The engine isn't asked for a task of the service itself.
        remote = SwarmRemote(keeper, client=None)
        remote.stop()
        async with serving(tmp_path) as served:
            with pytest.raises(RemoteUnavailable, match=STOPPED):
                await asyncio.to_thread(remote.claim, Address("127.0.0.1", 5900, served.port, PASSWORD))
            assert served.leases.lease is None
