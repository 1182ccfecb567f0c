"""A disk that is full."""

import contextlib
import resource
from collections.abc import Generator


@contextlib.contextmanager
def files_of_at_most(count: int) -> Generator[None]:
    """As if the disk was full once a file has so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
