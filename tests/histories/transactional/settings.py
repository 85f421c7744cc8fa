"""What the parts of a transactional history agree on."""

from typing import NamedTuple

TIMEOUT_MS = 4_000
"""transaction.timeout.ms."""
CALL_S = 5.0
"""How long one call of a client may take until it is repeated."""


class Topics(NamedTuple):
    """Of one round. A partition's name is its topic, a slash and its number."""

    round: str

    @property
    def sizes(self) -> dict[str, int]:
        """Each topic, and how many partitions it has."""
        return {f"{self.round}-a": 3, f"{self.round}-b": 2, f"{self.round}-copies": 2}

    @property
    def input(self) -> str:
        """What is copied. The writers append to it, as to the second topic."""
        return f"{self.round}-a"

    @property
    def copies(self) -> str:
        return f"{self.round}-copies"

    @property
    def group(self) -> str:
        return f"{self.round}-copiers"

    def partitions(self, *topics: str) -> list[str]:
        """All, or those of these topics."""
        return [
            f"{topic}/{number}"
            for topic, size in self.sizes.items()
            for number in range(size)
            if not topics or topic in topics
        ]
