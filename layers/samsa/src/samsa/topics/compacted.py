"""Compacted topics: their compaction settings, and which records they accept.

A record without a key cannot be compacted. As in Kafka, it is refused.
"""

from typing import TYPE_CHECKING

from samsa.log.compact_plan import NEVER_MS, Compaction
from samsa.ports import Topic
from samsa.wire.errors import ErrorCode

from .configs import Refused, number
from .topic_configs import TOPIC_CONFIGS

if TYPE_CHECKING:
    from samsa.broker.broker import Rules

PARTS = 8
"""A record may stay longer than its retention time by one part in this many."""
NAMED = 1_000
"""Records without a key that one answer lists."""


class WithoutKeys(Refused):
    def __init__(self, topic: Topic, partition: int, found: list[int]) -> None:
        super().__init__(ErrorCode.INVALID_RECORD, "One or more records have been rejected")
        why = "Compacted topic cannot accept message without key in topic partition"
        self.records = [(at, f"{why} {topic.name}-{partition}") for at in found[:NAMED]]


def is_compacted(topic: Topic) -> bool:
    return "compact" in topic.configs.get("cleanup.policy", "")


def compaction_of(topic: Topic, rules: "Rules", active_ms: int) -> Compaction | None:
    """None if the topic is not compacted. Records younger than `active_ms` are not compacted; the
    limit is the topic's segment.ms or max.compaction.lag.ms if that is less, because Kafka rolls
    its active segment then."""
    if not is_compacted(topic):
        return None
    ratio = "min.cleanable.dirty.ratio"
    max_lag_ms = number(topic, "max.compaction.lag.ms")
    return Compaction(
        dirty_ratio=float(topic.configs.get(ratio) or TOPIC_CONFIGS[ratio].default),
        tombstones_ms=number(topic, "delete.retention.ms"),
        min_lag_ms=number(topic, "min.compaction.lag.ms"),
        max_lag_ms=max_lag_ms,
        active_ms=min(active_ms, number(topic, "segment.ms"), max_lag_ms),
        span_ms=_span_ms(topic, rules),
    )


def _span_ms(topic: Topic, rules: "Rules") -> int:
    """The time range of records that are rewritten together. Retention drops them together, when
    the newest of them is too old."""
    kept_ms = number(topic, "retention.ms", rules)
    is_trimmed = "delete" in topic.configs["cleanup.policy"] and kept_ms >= 0
    return kept_ms // PARTS if is_trimmed else NEVER_MS
