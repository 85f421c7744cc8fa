"""Topic configs: the names Kafka knows, its defaults, and which of them mean something here."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from samsa.ports import Topic
from samsa.wire.errors import ErrorCode

MAX_NAME = 249
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")
INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1


class Refused(Exception):
    """A request that cannot be granted, with the error that says why."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Config(NamedTuple):
    default: str
    check: Callable[[str], bool]
    honoured: bool = False


def whole(least: int, most: int = INT64_MAX) -> Callable[[str], bool]:
    def check(value: str) -> bool:
        return re.fullmatch(r"-?\d{1,19}", value) is not None and least <= int(value) <= most

    return check


def one_of(*words: str) -> Callable[[str], bool]:
    return lambda value: value in words


def some_of(*words: str) -> Callable[[str], bool]:
    return lambda value: all(part.strip() in words for part in value.split(","))


def fraction(value: str) -> bool:
    return re.fullmatch(r"(0(\.\d+)?|1(\.0+)?)", value) is not None


YES_NO = one_of("true", "false")

TOPIC_CONFIGS: Mapping[str, Config] = {
    "cleanup.policy": Config("delete", some_of("delete", "compact", "")),
    "compression.gzip.level": Config("-1", whole(-1, 9)),
    "compression.lz4.level": Config("9", whole(1, 17)),
    "compression.type": Config(
        "producer", one_of("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd")
    ),
    "compression.zstd.level": Config("3", whole(-131072, 22)),
    "delete.retention.ms": Config("86400000", whole(0)),
    "file.delete.delay.ms": Config("60000", whole(0)),
    "flush.messages": Config(str(INT64_MAX), whole(1)),
    "flush.ms": Config(str(INT64_MAX), whole(0)),
    "follower.replication.throttled.replicas": Config("", lambda _: True),
    "index.interval.bytes": Config("4096", whole(0, INT32_MAX)),
    "leader.replication.throttled.replicas": Config("", lambda _: True),
    "local.retention.bytes": Config("-2", whole(-2)),
    "local.retention.ms": Config("-2", whole(-2)),
    "max.compaction.lag.ms": Config(str(INT64_MAX), whole(1)),
    "max.message.bytes": Config("1048588", whole(0, INT32_MAX), honoured=True),
    "message.timestamp.after.max.ms": Config("3600000", whole(0)),
    "message.timestamp.before.max.ms": Config(str(INT64_MAX), whole(0)),
    "message.timestamp.type": Config("CreateTime", one_of("CreateTime", "LogAppendTime")),
    "min.cleanable.dirty.ratio": Config("0.5", fraction),
    "min.compaction.lag.ms": Config("0", whole(0)),
    "min.insync.replicas": Config("1", whole(1, INT32_MAX)),
    "preallocate": Config("false", YES_NO),
    "remote.log.copy.disable": Config("false", YES_NO),
    "remote.log.delete.on.disable": Config("false", YES_NO),
    "remote.storage.enable": Config("false", YES_NO),
    "retention.bytes": Config("-1", whole(-1), honoured=True),
    "retention.ms": Config("604800000", whole(-1), honoured=True),
    "segment.bytes": Config("1073741824", whole(14, INT32_MAX)),
    "segment.index.bytes": Config("10485760", whole(4, INT32_MAX)),
    "segment.jitter.ms": Config("0", whole(0)),
    "segment.ms": Config("604800000", whole(1)),
    "unclean.leader.election.enable": Config("false", YES_NO),
}


def check_name(name: str) -> None:
    if not name or name in (".", "..") or len(name) > MAX_NAME or not _LEGAL_NAME.fullmatch(name):
        raise Refused(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"a topic name has 1 to {MAX_NAME} of the characters a-z A-Z 0-9 . _ - "
            "and is neither . nor ..",
        )


def check_configs(configs: Mapping[str, str]) -> None:
    for name, value in configs.items():
        config = TOPIC_CONFIGS.get(name)
        if config is None:
            raise Refused(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
        if not config.check(value):
            raise Refused(
                ErrorCode.INVALID_CONFIG, f"Invalid value {value} for configuration {name}"
            )


def number(topic: Topic, name: str) -> int:
    return int(topic.configs.get(name) or TOPIC_CONFIGS[name].default)
