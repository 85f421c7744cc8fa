"""Where clusters run: in a thread of this process, or in a process beside it.

A thread has an event loop of its own and needs no time to start. A process shares nothing with the
test: for tests that fork, or that hold the interpreter lock for long.
"""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from .cluster_settings import ClusterSettings
from .errors import SamsaError

Mode = Literal["thread", "process"]
MODES = ("thread", "process")
END_S = 30.0
"""Longer than a broker takes to end."""
CLOSED = "the broker is closed: its test, or its block, is over"


class Host(Protocol):
    def open(self, settings: ClusterSettings) -> tuple[int, int]:
        """The number of a new cluster, and its port."""
        ...

    def call(self, number: int, name: str, arguments: Sequence[Any], how: dict[str, Any]) -> Any:
        """What a method of a cluster returns. Raises what it raises."""
        ...

    def close_cluster(self, number: int) -> None: ...

    def close(self) -> None:
        """With all clusters that are still open."""
        ...


def open_host(mode: str) -> Host:
    """Raises SamsaError."""
    if mode == "thread":
        from .thread_host import ThreadHost

        return ThreadHost()
    if mode == "process":
        from .process_host import ProcessHost

        return ProcessHost()
    raise SamsaError(f"there is no mode {mode!r}; there are: {', '.join(MODES)}")
