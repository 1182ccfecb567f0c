"""The same tests against a remote on this machine and against one in a container."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from support.leftovers import Leftovers
from support.remotes import RemoteUnderTest, in_container, on_machine


@pytest.fixture(params=["machine", pytest.param("container", marks=pytest.mark.container)])
def remote(request: pytest.FixtureRequest) -> Generator[RemoteUnderTest]:
    """A gym-core remote that has just said how to connect to it."""
    leftovers = Leftovers()
    with on_machine() if request.param == "machine" else in_container() as remote:
        yield remote
    leftovers.assert_none()
