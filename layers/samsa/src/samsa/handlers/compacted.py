"""Compacted topics: what their configs ask for, and what may be written to them.

Only such a topic's batches are looked into on the way in: a record without a key could never be
compacted, and Kafka refuses it there.
"""

from typing import TYPE_CHECKING

from samsa.log.compact_plan import NEVER_MS, Compaction
from samsa.ports import Topic
from samsa.records.compression import decompress
from samsa.records.header import HEADER_SIZE, BatchHeader
from samsa.records.parse import parse
from samsa.records.spans import at_once, sift
from samsa.wire.errors import ErrorCode

from .configs import Refused, number
from .topic_configs import TOPIC_CONFIGS

if TYPE_CHECKING:
    from .broker import Rules

PARTS = 8
"""Of the time that records are kept: so much longer may one stay."""


class WithoutKeys(Refused):
    def __init__(self, topic: Topic, partition: int, found: list[int]) -> None:
        super().__init__(ErrorCode.INVALID_RECORD, "One or more records have been rejected")
        why = "Compacted topic cannot accept message without key in topic partition"
        self.records = [(index, f"{why} {topic.name}-{partition}") for index in found]


def is_compacted(topic: Topic) -> bool:
    return "compact" in topic.configs.get("cleanup.policy", "")


def compaction_of(topic: Topic, rules: "Rules", active_ms: int) -> Compaction | None:
    """None where there is nothing to compact. What is younger than `active_ms` stays as it is, if
    the topic's segment.ms is not less."""
    if not is_compacted(topic):
        return None
    ratio = "min.cleanable.dirty.ratio"
    return Compaction(
        dirty_ratio=float(topic.configs.get(ratio) or TOPIC_CONFIGS[ratio].default),
        tombstones_ms=number(topic, "delete.retention.ms"),
        min_lag_ms=number(topic, "min.compaction.lag.ms"),
        max_lag_ms=number(topic, "max.compaction.lag.ms"),
        active_ms=min(active_ms, number(topic, "segment.ms")),
        span_ms=_span_ms(topic, rules),
    )


def _span_ms(topic: Topic, rules: "Rules") -> int:
    """What is rewritten together goes together, when its newest record is too old."""
    kept_ms = number(topic, "retention.ms", rules)
    is_trimmed = "delete" in topic.configs["cleanup.policy"] and kept_ms >= 0
    return kept_ms // PARTS if is_trimmed else NEVER_MS


def check_keys(
    topic: Topic, partition: int, header: BatchHeader, data: memoryview, limit: int
) -> None:
    """Raises WithoutKeys; and RecordError for records that are none."""
    if not is_compacted(topic):
        return
    plain = decompress(header.codec, data[HEADER_SIZE:], limit)
    keyed = at_once(sift(header, plain, {}, tombstones_too=False))
    if keyed.count < header.count:
        found = [n for n, record in enumerate(parse(header, plain)) if record.key is None]
        raise WithoutKeys(topic, partition, found)
