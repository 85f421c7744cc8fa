"""The address that a process announces to the others, and that they give to clients.

It is what `--advertise` says; else the address that the process listens on; else, if it listens on
all of them (0.0.0.0, ::), the one of the interface that the default route takes.

A loopback address leads to another process on every machine. So it is announced together with the
machine, and only processes that are reached by loopback on the same machine name it.
"""

import asyncio
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .listeners import is_loopback
from .wakeup_address import is_unspecified, reachable_address

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
NETWORK = "/proc/self/ns/net"


class AnnouncedAddress(NamedTuple):
    host: str
    port: int
    machine: str


async def announced_place(
    advertised: tuple[str, int] | None, listens: tuple[str, int]
) -> AnnouncedAddress:
    host, port = advertised or listens
    if advertised is None and is_unspecified(host):
        host = await asyncio.to_thread(reachable_address, host, None)
    return AnnouncedAddress(host, port, machine_id() if is_loopback(host) else "")


def machine_id() -> str:
    """Identifies a loopback interface: each container of a machine has its own."""
    with suppress(OSError):
        return f"{BOOT_ID.read_text().strip()}/{os.stat(NETWORK).st_ino}"
    return socket.gethostname()
