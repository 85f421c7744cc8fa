"""Topic configs: Kafka's names and defaults, and which of them have an effect here."""

from collections.abc import Mapping
from typing import NamedTuple

from .config_kinds import (
    GZIP_LEVEL,
    INT64_MAX,
    RATIO,
    REPLICAS,
    YES_NO,
    ConfigKind,
    int_,
    long,
    one_of,
    some_of,
)

FOR_EVER = str(INT64_MAX)


class TopicConfig(NamedTuple):
    default: str
    kind: ConfigKind
    about: str
    synonym: str | None = None
    """The broker's config that gives the default."""
    honoured: bool = False


TOPIC_CONFIGS: Mapping[str, TopicConfig] = {
    "cleanup.policy": TopicConfig(
        "delete", some_of("compact", "delete"),
        "What becomes of old records: delete drops them by retention.ms and retention.bytes, "
        "compact keeps the newest of every key. Both may be asked for.",
        "log.cleanup.policy", honoured=True,
    ),
    "compression.gzip.level": TopicConfig(
        "-1", GZIP_LEVEL, "Level for gzip.", "compression.gzip.level"
    ),
    "compression.lz4.level": TopicConfig(
        "9", int_(1, 17), "Level for lz4.", "compression.lz4.level"
    ),
    "compression.type": TopicConfig(
        "producer", one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        "Codec of stored batches: they stay as their producer sent them, whatever is said here.",
        "compression.type",
    ),
    "compression.zstd.level": TopicConfig(
        "3", int_(-131072, 22), "Level for zstd.", "compression.zstd.level"
    ),
    "delete.retention.ms": TopicConfig(
        "86400000", long(0), "How long a compacted topic keeps its tombstones.",
        "log.cleaner.delete.retention.ms", honoured=True,
    ),
    "file.delete.delay.ms": TopicConfig(
        "60000", long(0), "How long files outlive their place in the log.",
        "log.segment.delete.delay.ms",
    ),
    "flush.messages": TopicConfig(
        FOR_EVER, long(1), "Messages between two flushes to disk.", "log.flush.interval.messages"
    ),
    "flush.ms": TopicConfig(FOR_EVER, long(0), "Time between two flushes to disk."),
    "follower.replication.throttled.replicas": TopicConfig(
        "", REPLICAS, "Replicas whose following is throttled."
    ),
    "index.interval.bytes": TopicConfig(
        "4096", int_(0), "Bytes between two entries of the index.", "log.index.interval.bytes"
    ),
    "leader.replication.throttled.replicas": TopicConfig(
        "", REPLICAS, "Replicas whose leading is throttled."
    ),
    "local.retention.bytes": TopicConfig(
        "-2", long(-2), "Bytes kept on local disk with tiered storage.",
        "log.local.retention.bytes",
    ),
    "local.retention.ms": TopicConfig(
        "-2", long(-2), "Time on local disk with tiered storage.", "log.local.retention.ms"
    ),
    "max.compaction.lag.ms": TopicConfig(
        FOR_EVER, long(1), "The longest time that a record stays uncompacted.",
        "log.cleaner.max.compaction.lag.ms", honoured=True,
    ),
    "max.message.bytes": TopicConfig(
        "1048588", int_(0), "The largest batch that a producer may send, after compression.",
        "message.max.bytes", honoured=True,
    ),
    "message.timestamp.after.max.ms": TopicConfig(
        "3600000", long(0), "How far ahead of the broker's clock a record's time may be.",
        "log.message.timestamp.after.max.ms", honoured=True,
    ),
    "message.timestamp.before.max.ms": TopicConfig(
        FOR_EVER, long(0), "How far behind the broker's clock a record's time may be.",
        "log.message.timestamp.before.max.ms",
    ),
    "message.timestamp.type": TopicConfig(
        "CreateTime", one_of("CreateTime", "LogAppendTime"),
        "Whose time a record has: its producer's, or the broker's when the batch came.",
        "log.message.timestamp.type", honoured=True,
    ),
    "min.cleanable.dirty.ratio": TopicConfig(
        "0.5", RATIO, "The part of a log that must be uncompacted before it is compacted.",
        "log.cleaner.min.cleanable.ratio", honoured=True,
    ),
    "min.compaction.lag.ms": TopicConfig(
        "0", long(0), "The shortest time that a record stays uncompacted.",
        "log.cleaner.min.compaction.lag.ms", honoured=True,
    ),
    "min.insync.replicas": TopicConfig(
        "1", int_(1), "Replicas that must have a record: the stores replicate by themselves.",
        "min.insync.replicas",
    ),
    "preallocate": TopicConfig("false", YES_NO, "Whether files get their size at once.",
        "log.preallocate",
    ),
    "remote.log.copy.disable": TopicConfig(
        "false", YES_NO, "Whether tiered storage takes nothing new."
    ),
    "remote.log.delete.on.disable": TopicConfig(
        "false", YES_NO, "Whether turning tiered storage off deletes what it holds."
    ),
    "remote.storage.enable": TopicConfig("false", YES_NO, "Whether the topic has tiered storage."),
    "retention.bytes": TopicConfig(
        "-1", long(), "Bytes that a partition keeps; -1 for all of them.",
        "log.retention.bytes", honoured=True,
    ),
    "retention.ms": TopicConfig(
        "604800000", long(-1), "How long a partition keeps a record; -1 for ever.", honoured=True
    ),
    "segment.bytes": TopicConfig(
        "1073741824", int_(1048576), "Size of a segment file.", "log.segment.bytes"
    ),
    "segment.index.bytes": TopicConfig(
        "10485760", int_(4), "Size of an index file.", "log.index.size.max.bytes"
    ),
    "segment.jitter.ms": TopicConfig("0", long(0), "Spread of the times at which segments roll."),
    "segment.ms": TopicConfig("604800000", long(1), "The age at which a segment rolls."),
    "unclean.leader.election.enable": TopicConfig(
        "false", YES_NO, "Whether a replica that lags may lead.", "unclean.leader.election.enable"
    ),
}  # fmt: skip
