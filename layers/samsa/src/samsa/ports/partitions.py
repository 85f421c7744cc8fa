"""Topics, partitions, and a partition's head."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID


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
    """A partition's item: the sequencer and what is open on it."""

    next_offset: int
    log_start: int
    inflight: Mapping[str, int]
    """Open slots: token → base."""
    watchers: Mapping[str, int]
    """Who wants to hear of a confirm: address → when that wish expires (ms)."""
    settled_to: int = 0
    """Everything below is indexed for good: nobody looks at the keys of slots there any more."""

    @property
    def visible_end(self) -> int:
        """What Kafka calls the high watermark. Never the counter itself: readers see a prefix."""
        return min(self.inflight.values(), default=self.next_offset)
