"""Starting, finding and replacing remotes: containers, local processes, or those that run elsewhere."""

from .address import Address, parse_addresses
from .manager import Attached, Progress, RemoteManager
from .parse import START_S, open_pool, parse
from .pool import Pool
from .progress import each, starting, waiting

__all__ = [
    "START_S",
    "Address",
    "Attached",
    "Pool",
    "Progress",
    "RemoteManager",
    "each",
    "open_pool",
    "parse",
    "parse_addresses",
    "starting",
    "waiting",
]
