"""What happens in the gateway, for who wants to show it. The demo prints it."""

from typing import NamedTuple

from .stores.meter import StoreUse


class Run(NamedTuple):
    """One invocation of a function."""

    function: str
    event: str
    """CONNECT, MESSAGE or DISCONNECT of a WebSocket; HTTP; SCHEDULE."""
    memory_mb: int
    init_s: float
    """How long its environment took to start; 0 if it was warm."""
    ran_s: float
    used: StoreUse
    """What it asked the embedded stores."""
    body: str = ""
    """The message that it answers."""
    has_failed: bool = False


class Observer:
    """Does nothing."""

    def message_in(self, text: str) -> None:
        """From a client."""

    def message_out(self, text: str) -> None:
        """An answer to a client."""

    def pushed(self, text: str) -> None:
        """From a function to a client."""

    def invoked(self, run: Run) -> None: ...

    def transferred(self, method: str, size: int) -> None:
        """By a presigned URL."""
