"""Starting, finding and replacing remotes: containers, local processes, or those that run elsewhere."""

from .address import Address, parse_addresses
from .manager import Attached, Progress, RemoteManager
from .parse import START_S, open_pool, parse, share
from .pool import Pool
from .progress import each, starting, waiting
from .shared import Borrowed, Shared

__all__ = [
    "START_S",
    "Address",
    "Attached",
    "Borrowed",
    "Pool",
    "Progress",
    "RemoteManager",
    "Shared",
    "each",
    "open_pool",
    "parse",
    "parse_addresses",
    "share",
    "starting",
    "waiting",
]
