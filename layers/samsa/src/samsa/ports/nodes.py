"""A process of the cluster, as it announces itself to the others."""

from typing import NamedTuple


class Node(NamedTuple):
    id: int
    owner: str
    """A word that no other process has."""
    version: int
    """Counts the renewals: whoever sees it change knows that the process lives."""
    host: str
    port: int
    """Where its clients are told to come."""
    zone: str
    """Empty if nobody said."""
    machine: str
    """Of a loopback address: the machine on which it leads there. Else empty."""
    renewed_at: int
    """Milliseconds, by the clock of the process."""

    @property
    def place(self) -> tuple[str, int, str]:
        return self.host, self.port, self.machine
