"""Decides which requests may be sent again when the fate of the first try is unknown.

Only idempotent requests are repeated. For any other the client's connection is closed instead: a
Kafka client decides by itself whether to try again. A request that is not listed is not repeated.
"""

from collections.abc import Callable
from typing import Any

from samsa.records import RecordError, headers
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError
from samsa.wire.frame import read_request
from samsa_websocket.envelope import Frame

READS = {
    ApiKey.FETCH,
    ApiKey.LIST_OFFSETS,
    ApiKey.METADATA,
    ApiKey.OFFSET_FETCH,
    ApiKey.FIND_COORDINATOR,
    ApiKey.DESCRIBE_GROUPS,
    ApiKey.LIST_GROUPS,
    ApiKey.API_VERSIONS,
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.DESCRIBE_CONFIGS,
    ApiKey.DESCRIBE_LOG_DIRS,
    ApiKey.DESCRIBE_CLUSTER,
    ApiKey.DESCRIBE_PRODUCERS,
    ApiKey.CONSUMER_GROUP_DESCRIBE,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
    ApiKey.DESCRIBE_QUORUM,
    ApiKey.LIST_CONFIG_RESOURCES,
    ApiKey.DESCRIBE_ACLS,
    ApiKey.DESCRIBE_CLIENT_QUOTAS,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    ApiKey.DESCRIBE_TRANSACTIONS,
    ApiKey.LIST_TRANSACTIONS,
}
SAME_AGAIN = {ApiKey.HEARTBEAT, ApiKey.SYNC_GROUP, ApiKey.OFFSET_COMMIT, ApiKey.INIT_PRODUCER_ID}
FIRST_WITH_BATCHES = 3


def may_repeat(frame: Frame) -> bool:
    """A Kafka request, without its size."""
    try:
        request = read_request(memoryview(frame))
        if request.api_key in READS or request.api_key in SAME_AGAIN:
            return True
        look = _LOOK.get(request.api_key)
        if look is None or request.api_version not in APIS[request.api_key].versions:
            return False
        row = APIS[request.api_key].request.decode(request.api_version, request.body, exact=False)
        return look(row, request.api_version)
    except (DecodeError, RecordError):
        return False


def _produce(row: Any, version: int) -> bool:
    """Batches of idempotent producers carry a sequence, by which the log finds duplicates."""
    if version < FIRST_WITH_BATCHES or row.acks == 0:
        return False
    found = [
        header
        for topic in row.topic_data
        for entry in topic.partition_data
        for _, header in headers(entry.records or b"")
    ]
    return all(header.producer_id >= 0 for header in found)


def _join(row: Any, _: int) -> bool:
    return bool(row.member_id) or row.group_instance_id is not None


def _consumer_heartbeat(row: Any, _: int) -> bool:
    return bool(row.member_id) and row.member_epoch >= 0


_LOOK: dict[int, Callable[[Any, int], bool]] = {
    ApiKey.PRODUCE: _produce,
    ApiKey.JOIN_GROUP: _join,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: _consumer_heartbeat,
}
