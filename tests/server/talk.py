"""What a peer asks for, in short: produce, fetch, look up, describe."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from server.peer import Peer

from samsa.records.batch import headers
from samsa.records.record import Record, build, records
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    api_versions,
    create_topics,
    delete_topics,
    fetch,
    init_producer_id,
    list_offsets,
    metadata,
    produce,
)

PRODUCE, FETCH, LIST_OFFSETS = 9, 12, 7
LATEST, EARLIEST = -1, -2
NOW = time.time_ns() // 1_000_000 - 3_600_000
"""An hour ago: what a test writes is young enough for every default."""


def batch(*values: bytes | None, timestamp: int = NOW, **more: Any) -> bytes:
    return build([Record(n, timestamp + n, None, value) for n, value in enumerate(values)], **more)


def produce_row(
    topic: str, data: bytes | None, partition: int = 0, acks: int = -1, timeout_ms: int = 30_000
) -> Any:
    entry = produce.PARTITION(index=partition, records=data)
    return produce.REQUEST(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[produce.TOPIC(name=topic, partition_data=[entry])],
    )


def append(peer: Peer, topic: str, data: bytes | None, version: int = PRODUCE, **more: Any) -> Any:
    """The answer of the one partition that was written to. As clients do, it asks Metadata for a
    topic that is not there, which makes it, and then tries again."""
    row = produce_row(topic, data, **more)
    answer = peer.ask(ApiKey.PRODUCE, version, row).responses[0].partition_responses[0]
    if answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and topic:
        describe(peer, topic, create=True)
        answer = peer.ask(ApiKey.PRODUCE, version, row).responses[0].partition_responses[0]
    return answer


def write(peer: Peer, topic: str, *values: bytes, partition: int = 0, **more: Any) -> int:
    """Append one batch; its offset."""
    answer = append(peer, topic, batch(*values, **more), partition=partition)
    assert answer.error_code == ErrorCode.NONE, (ErrorCode(answer.error_code), answer)
    return answer.base_offset


def fetch_row(
    topic: str,
    offset: int,
    partitions: Sequence[int] = (0,),
    max_bytes: int = 1 << 25,
    wait_ms: int = 0,
    min_bytes: int = 1,
    **more: Any,
) -> Any:
    asked = [
        fetch.PARTITION(partition=n, fetch_offset=offset, partition_max_bytes=max_bytes)
        for n in partitions
    ]
    return fetch.REQUEST(
        max_wait_ms=wait_ms,
        min_bytes=min_bytes,
        topics=[fetch.TOPIC(topic=topic, partitions=asked)],
        **more,
    )


def read(peer: Peer, topic: str, offset: int, version: int = FETCH, **more: Any) -> Any:
    """The answer of the one partition that was read."""
    answer = peer.ask(ApiKey.FETCH, version, fetch_row(topic, offset, **more))
    return answer.responses[0].partitions[0]


def records_in(data: bytes | memoryview | None) -> list[Record]:
    return [r for position, _ in headers(data or b"") for r in records(data, position)]


def everything(peer: Peer, topic: str, partition: int = 0, offset: int = 0) -> list[Record]:
    """All that the partition holds from the offset on, fetched until its visible end."""
    found: list[Record] = []
    while True:
        got = read(peer, topic, offset, partitions=[partition])
        assert got.error_code == ErrorCode.NONE, ErrorCode(got.error_code)
        if offset >= got.high_watermark:
            return found
        batches = headers(got.records)
        found += [r for r in records_in(got.records) if r.offset >= offset]
        offset = batches[-1][1].next_offset


def values(found: Iterable[Record]) -> list[bytes | None]:
    return [record.value for record in found]


def offset_at(peer: Peer, topic: str, timestamp: int, partition: int = 0) -> Any:
    """ListOffsets for one partition."""
    asked = list_offsets.PARTITION(partition_index=partition, timestamp=timestamp)
    row = list_offsets.REQUEST(
        replica_id=-1, topics=[list_offsets.TOPIC(name=topic, partitions=[asked])]
    )
    return peer.ask(ApiKey.LIST_OFFSETS, LIST_OFFSETS, row).topics[0].partitions[0]


def end_of(peer: Peer, topic: str, partition: int = 0) -> int:
    return offset_at(peer, topic, LATEST, partition).offset


def start_of(peer: Peer, topic: str, partition: int = 0) -> int:
    return offset_at(peer, topic, EARLIEST, partition).offset


def create(peer: Peer, topic: str, partitions: int = 1, **configs: str) -> Any:
    """Config names are written with underscores for dots."""
    asked = create_topics.TOPIC(
        name=topic,
        num_partitions=partitions,
        replication_factor=-1,
        configs=[
            create_topics.CONFIG(name=name.replace("_", "."), value=value)
            for name, value in configs.items()
        ],
    )
    made = peer.ask(ApiKey.CREATE_TOPICS, 7, create_topics.REQUEST(topics=[asked])).topics[0]
    assert made.error_code == ErrorCode.NONE, made
    return made


def delete(peer: Peer, topic: str) -> int:
    row = delete_topics.REQUEST(topics=[delete_topics.TOPIC(name=topic)], timeout_ms=10_000)
    return peer.ask(ApiKey.DELETE_TOPICS, 6, row).responses[0].error_code


def describe(peer: Peer, *topics: str, version: int = 12, create: bool = False) -> Any:
    """Metadata of these topics, or of all if none is named."""
    asked = [metadata.TOPIC(name=name) for name in topics] if topics or version == 0 else None
    row = metadata.REQUEST(topics=asked, allow_auto_topic_creation=create)
    return peer.ask(ApiKey.METADATA, version, row)


def new_producer_id(peer: Peer) -> int:
    row = init_producer_id.REQUEST(transactional_id=None, transaction_timeout_ms=60_000)
    answer = peer.ask(ApiKey.INIT_PRODUCER_ID, 4, row)
    assert answer.error_code == ErrorCode.NONE
    return answer.producer_id


def versions(peer: Peer) -> dict[int, tuple[int, int]]:
    answer = peer.ask(ApiKey.API_VERSIONS, 0, api_versions.REQUEST())
    return {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
