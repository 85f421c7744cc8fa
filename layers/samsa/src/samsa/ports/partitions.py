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
    """The end that readers see, and the base of the next commit."""
    log_start: int
    watchers: Mapping[str, int]
    """Who is woken by a commit: address → when the watch expires (ms)."""
    settled_to: int = 0
    """Below this offset an extent counts only if a swap wrote it."""
    tail: tuple[Extent, ...] = ()
    """Entries by base. Each stays here until it is in the index: read the head first, then the
    index."""
