"""Topics, partitions, and a partition's head."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from .extents import Extent


class Partition(NamedTuple):
    topic_id: UUID
    number: int

    def __str__(self) -> str:
        return f"{self.topic_id}/{self.number}"


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    id: UUID
    partitions: int
    created_at: int
    configs: Mapping[str, str] = field(default_factory=dict)


class Head(NamedTuple):
    """A partition's item: what every commit updates."""

    next_offset: int
    """The end that readers see, and what the next commit gets."""
    log_start: int
    watchers: Mapping[str, int]
    """Who wants to hear of a commit: address → when that wish expires (ms)."""
    settled_to: int = 0
    """Below it an extent counts only if a swap put it there."""
    tail: tuple[Extent, ...] = ()
    """Entries by base. Each stays here until it is in the index: read the head first, then the
    index."""
