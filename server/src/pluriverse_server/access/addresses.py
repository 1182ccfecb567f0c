"""The addresses that peers are counted by."""

from __future__ import annotations

import ipaddress
from typing import Final

# One household or virtual machine has all of them.
_IPV6_PREFIX: Final = 64


def address_key(host: str) -> str:
    """Return what to count a peer's connections and guesses by: its IPv4 address, or the /64 of its IPv6 one."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    if address.is_loopback:
        return str(address)
    return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
