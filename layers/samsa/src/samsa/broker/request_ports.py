"""The ports as one request uses them.

A process uses its own ports for all requests. A gateway function passes other ones with each
request: there a request cannot wait, and records stay in S3 until the shim gets them.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from samsa.ports import Clock, Objects, Partition, Waiting


class RequestPorts(NamedTuple):
    clock: Clock
    wakeups: Waiting
    nonce: Callable[[], str]
    objects: Objects
    """For the records of the answer."""
    watch: Callable[[Partition], Awaitable[bool]]
    """Enters the request among the watchers of a partition. True if the watch is new: then read the
    partition again for appends before it."""
    lingers: bool = False
    """The client let its produces wait for others. They may wait a little longer, for the calls
    that keep heads small."""
