"""Committed offsets of consumer groups."""

from typing import NamedTuple, TypeAlias


class Committed(NamedTuple):
    """A group's offset for one partition."""

    offset: int
    leader_epoch: int
    metadata: str
    committed_at: int
    expires_at: int
    """Milliseconds; 0 for never."""


Offsets: TypeAlias = dict[tuple[str, int], Committed]
"""By topic name and partition, as clients name them."""
