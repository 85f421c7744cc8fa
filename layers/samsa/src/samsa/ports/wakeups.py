"""Wake-ups: how a request waits for a partition or a group, and is woken."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, TypeAlias

from .objects import Buffer
from .partitions import Partition


class Subscription(Protocol):
    async def wait(self, timeout_ms: int, look_again_ms: int | None = None) -> bool:
        """Wait until one of the subscribed things changes (True) or the time is up (False).

        `look_again_ms`: after this time the answer may be another one although nothing has changed.
        Raises CannotWait in a process that ends with its request (a function).
        """
        ...


class GroupKey(NamedTuple):
    """A group as something to wait for."""

    group_id: str


Awaited: TypeAlias = Partition | GroupKey
"""What a request may be parked on: a partition that grows, a group that moves on."""


class Appended(NamedTuple):
    """The append that caused a wake-up, if readers see it already."""

    base: int
    end: int
    """The visible end of the log."""
    log_start: int
    parts: Sequence[Buffer]
    """Valid until `wake` returns."""


class Waiting(Protocol):
    """What a request needs to wait and to be woken."""

    @property
    def address(self) -> str:
        """The name under which others wake the request: a head's watcher, a member's waiter."""
        ...

    def subscribe(self, awaited: Iterable[Awaited]) -> AbstractContextManager[Subscription]: ...


class Wakeups(Waiting, Protocol):
    def wake(
        self, awaited: Awaited, watchers: Iterable[str], appended: Appended | None = None
    ) -> None: ...
