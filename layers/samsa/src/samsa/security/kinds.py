"""The vocabulary of Kafka's access control, with its numbers on the wire."""

from enum import IntEnum
from typing import Self

CLUSTER_NAME = "kafka-cluster"
"""The one resource of type CLUSTER."""


class Code(IntEnum):
    """A number on the wire. Numbers that Kafka has not given a meaning are UNKNOWN."""

    # Enum's own hash hashes the member's name in Python, which takes most of the time of a look-up.
    __hash__ = int.__hash__

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls(0) if isinstance(value, int) and value else None


class Operation(Code):
    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class ResourceType(Code):
    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(Code):
    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Permission(Code):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3
