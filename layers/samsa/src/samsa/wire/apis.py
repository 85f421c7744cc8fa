"""The APIs that Samsa speaks, and in which versions.

An API's message tables are imported when they are first used: a cold start pays for one or two.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from samsa.wire.schema import Message


class ApiKey(IntEnum):
    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    DESCRIBE_QUORUM = 55
    UPDATE_FEATURES = 57
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69
    LIST_CONFIG_RESOURCES = 74
    DESCRIBE_TOPIC_PARTITIONS = 75


class Api:
    """One API: its key, Kafka's name for it, our versions and its two messages."""

    def __init__(self, key: ApiKey, *, newest: int, oldest: int = 0) -> None:
        self.key = key
        self.name = key.name.title().replace("_", "")
        self.versions = range(oldest, newest + 1)

    @cached_property
    def _tables(self) -> ModuleType:
        return import_module(f"samsa.wire.messages.{self.key.name.lower()}")

    @cached_property
    def request(self) -> Message:
        message: Message = self._tables.REQUEST
        return message

    @cached_property
    def response(self) -> Message:
        message: Message = self._tables.RESPONSE
        return message

    def __repr__(self) -> str:
        return f"<{self.name} v{self.versions.start}-{self.versions.stop - 1}>"


APIS: dict[int, Api] = {
    api.key: api
    for api in (
        Api(ApiKey.PRODUCE, newest=13),
        Api(ApiKey.FETCH, newest=18),
        Api(ApiKey.LIST_OFFSETS, newest=11),
        Api(ApiKey.METADATA, newest=13),
        Api(ApiKey.OFFSET_COMMIT, newest=10),
        Api(ApiKey.OFFSET_FETCH, newest=10),
        Api(ApiKey.FIND_COORDINATOR, newest=6),
        Api(ApiKey.JOIN_GROUP, newest=9),
        Api(ApiKey.HEARTBEAT, newest=4),
        Api(ApiKey.LEAVE_GROUP, newest=5),
        Api(ApiKey.SYNC_GROUP, newest=5),
        Api(ApiKey.DESCRIBE_GROUPS, newest=6),
        Api(ApiKey.LIST_GROUPS, newest=5),
        Api(ApiKey.SASL_HANDSHAKE, newest=1),
        Api(ApiKey.API_VERSIONS, newest=4),
        Api(ApiKey.CREATE_TOPICS, newest=7),
        Api(ApiKey.DELETE_TOPICS, newest=6),
        Api(ApiKey.DELETE_RECORDS, newest=2),
        Api(ApiKey.INIT_PRODUCER_ID, newest=5),
        Api(ApiKey.OFFSET_FOR_LEADER_EPOCH, newest=4),
        Api(ApiKey.ADD_PARTITIONS_TO_TXN, newest=5),
        Api(ApiKey.ADD_OFFSETS_TO_TXN, newest=4),
        Api(ApiKey.END_TXN, newest=5),
        Api(ApiKey.WRITE_TXN_MARKERS, oldest=1, newest=2),
        Api(ApiKey.TXN_OFFSET_COMMIT, newest=5),
        Api(ApiKey.DESCRIBE_ACLS, oldest=1, newest=3),
        Api(ApiKey.CREATE_ACLS, oldest=1, newest=3),
        Api(ApiKey.DELETE_ACLS, oldest=1, newest=3),
        Api(ApiKey.DESCRIBE_CONFIGS, newest=4),
        Api(ApiKey.ALTER_CONFIGS, newest=2),
        Api(ApiKey.ALTER_REPLICA_LOG_DIRS, newest=2),
        Api(ApiKey.DESCRIBE_LOG_DIRS, newest=5),
        Api(ApiKey.SASL_AUTHENTICATE, newest=2),
        Api(ApiKey.CREATE_PARTITIONS, newest=3),
        Api(ApiKey.DELETE_GROUPS, newest=2),
        Api(ApiKey.ELECT_LEADERS, newest=2),
        Api(ApiKey.INCREMENTAL_ALTER_CONFIGS, newest=1),
        Api(ApiKey.ALTER_PARTITION_REASSIGNMENTS, newest=1),
        Api(ApiKey.LIST_PARTITION_REASSIGNMENTS, newest=0),
        Api(ApiKey.OFFSET_DELETE, newest=0),
        Api(ApiKey.DESCRIBE_CLIENT_QUOTAS, newest=1),
        Api(ApiKey.ALTER_CLIENT_QUOTAS, newest=1),
        Api(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, newest=0),
        Api(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, newest=0),
        Api(ApiKey.DESCRIBE_QUORUM, newest=2),
        Api(ApiKey.UPDATE_FEATURES, newest=2),
        Api(ApiKey.DESCRIBE_CLUSTER, newest=2),
        Api(ApiKey.DESCRIBE_PRODUCERS, newest=0),
        Api(ApiKey.DESCRIBE_TRANSACTIONS, newest=0),
        Api(ApiKey.LIST_TRANSACTIONS, newest=2),
        Api(ApiKey.CONSUMER_GROUP_HEARTBEAT, newest=1),
        Api(ApiKey.CONSUMER_GROUP_DESCRIBE, newest=1),
        Api(ApiKey.LIST_CONFIG_RESOURCES, newest=1),
        Api(ApiKey.DESCRIBE_TOPIC_PARTITIONS, newest=0),
    )
}
