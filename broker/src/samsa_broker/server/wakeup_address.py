"""The address to which other processes of the cluster send wake-ups.

A process that listens on one address registers that one. A process that listens on all of them
(0.0.0.0, ::) registers the first of these: what `--wakeups` says; the host of `--advertise`, if it
is an address of this machine (it may be a load balancer's); the address of the interface that the
default route takes; loopback, which is logged as a warning.
"""

import asyncio
import logging
import secrets
import socket
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address

from samsa.local.wakeups import LocalWakeups
from samsa.runtime.logs import event

log = logging.getLogger("samsa.server")
SECRET_BYTES = 8
FAR_AWAY = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses of no machine (RFC 5737, RFC 3849): only the default route leads there."""
DISCARD_PORT = 9


async def hear_others(
    wakeups: LocalWakeups,
    host: str,
    told: tuple[str, int] | None,
    advertised: str | None,
    *,
    remote_ledger: bool,
) -> None:
    """Listen for wake-ups. `remote_ledger`: other machines may use it too. Raises OSError."""
    reached_at, port = None, 0
    if told is not None:
        port = told[1]
        reached_at = (await asyncio.to_thread(_resolved, told[0]))[0]
    elif is_unspecified(host):
        reached_at = await asyncio.to_thread(reachable_address, host, advertised)
    secret = secrets.token_bytes(SECRET_BYTES)
    await wakeups.listen(host, port, reached_at=reached_at, secret=secret)
    registered = wakeups.address.partition("|")[0]
    if ip_address(registered).is_loopback and (remote_ledger or is_unspecified(host)):
        event(
            log,
            logging.WARNING,
            "other machines cannot wake this process",
            address=registered,
            effect="its consumers see what others append after fetch.max.wait.ms, joins take 5 s",
            remedy="--wakeups HOST:PORT",
        )


def is_unspecified(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return not host


def reachable_address(host: str, advertised: str | None) -> str:
    """The address by which other machines reach a socket that is bound to `host` (all addresses);
    loopback if there is none. `::` includes IPv4."""
    v6 = ":" in host
    for found in _candidates(v6, advertised):
        address = ip_address(found)
        useless = address.is_loopback or address.is_unspecified or address.is_link_local
        if not useless and (v6 or address.version == 4) and _is_own(found):
            return found
    return "::1" if v6 else "127.0.0.1"


def _candidates(v6: bool, advertised: str | None) -> Iterator[str]:
    if advertised is not None:
        with suppress(OSError):
            yield from _resolved(advertised)
    for family in (socket.AF_INET, *([socket.AF_INET6] if v6 else [])):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((FAR_AWAY[family], DISCARD_PORT))  # chooses a route, and sends nothing
            yield str(probe.getsockname()[0])


def _resolved(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_DGRAM)
    return [str(place[0]).partition("%")[0] for *_, place in found]


def _is_own(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True
