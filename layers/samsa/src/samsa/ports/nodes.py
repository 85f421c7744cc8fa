"""A process of the cluster, as it announces itself to the others."""

from typing import NamedTuple


class Node(NamedTuple):
    id: int
    owner: str
    """A name that no other process has."""
    version: int
    """Counts the renewals: if it changes, the process lives."""
    host: str
    port: int
    """The address that clients are told to connect to."""
    zone: str
    """Empty if not configured."""
    machine: str
    """If the host is a loopback address: the machine on which it is valid. Else empty."""
    renewed_at: int
    """Milliseconds, by the clock of the process."""

    @property
    def place(self) -> tuple[str, int, str]:
        return self.host, self.port, self.machine
