"""Principals, and addresses of clients."""

from typing import NamedTuple, Self


class Principal(NamedTuple):
    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"

    @classmethod
    def of(cls, text: str) -> Self:
        """From `User:alice`. A name may have colons in it."""
        kind, colon, name = text.partition(":")
        if not colon:
            raise ValueError(f"expected a principal such as User:alice, not {text!r}")
        return cls(kind, name)


USER = "User"
ANONYMOUS = Principal(USER, "ANONYMOUS")
"""The principal of a client that has not logged in."""


def canonical_host(host: str) -> str:
    """An address in its one short form. Java writes IPv6 addresses in full, Python does not: both
    name the same host. An IPv4 address that is mapped to IPv6 is an IPv4 address, as in Java."""
    if ":" not in host:
        return host
    from ipaddress import ip_address  # Rare, and slow to load.

    try:
        address = ip_address(host)
    except ValueError:
        return host
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
