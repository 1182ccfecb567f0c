"""Starting, finding and replacing remotes: containers, local processes, or those that run elsewhere."""

from .address import Address, parse_addresses
from .manager import Attached, Progress, RemoteManager
from .parse import START_S, parse, share
from .progress import each, starting, waiting
from .shared import Shared

__all__ = [
    "START_S",
    "Address",
    "Attached",
    "Progress",
    "RemoteManager",
    "Shared",
    "each",
    "parse",
    "parse_addresses",
    "share",
    "starting",
    "waiting",
]
