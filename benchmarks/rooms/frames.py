"""Batches and requests as clients send them, in memory that may be patched as the server's is."""

from typing import Any
from uuid import UUID

from samsa.ports import Piece
from samsa.records.record import Record, build
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import request_frame
from samsa.wire.messages import fetch, produce
from samsa.wire.schema import Row

KB, MB = 1024, 1_000_000
SMALL, LARGE = 16 * KB, MB
"""A Java producer's default batch, and a large one of librdkafka."""
NAMES = {SMALL: "16 KB", LARGE: "1 MB"}
SIZE_FIELD = 4
PRODUCE_VERSION, FETCH_VERSION = 13, 18
VALUE = bytes(range(256)) * 4


def batch(size: int, producer_id: int = -1) -> memoryview:
    """1 KB records that make up `size` bytes, or just under."""
    count = max(1, size // (len(VALUE) + 20))
    records = [Record(offset, 1_700_000_000_000, None, VALUE) for offset in range(count)]
    sequence = 0 if producer_id >= 0 else -1
    data = build(
        records, producer_id=producer_id, producer_epoch=min(sequence, 0), base_sequence=sequence
    )
    return memoryview(bytearray(data))


def produce_request(topic_id: UUID, records: memoryview) -> memoryview:
    entry = produce.PARTITION(index=0, records=records)
    topic = produce.TOPIC(topic_id=topic_id, partition_data=[entry])
    row = produce.REQUEST(acks=-1, timeout_ms=30_000, topic_data=[topic])
    return _frame(ApiKey.PRODUCE, PRODUCE_VERSION, row)


def fetch_request(topic_id: UUID, partitions: int, max_bytes: int) -> memoryview:
    entries = [
        fetch.PARTITION(partition=number, fetch_offset=0, partition_max_bytes=max_bytes)
        for number in range(partitions)
    ]
    topic = fetch.TOPIC(topic_id=topic_id, partitions=entries)
    row = fetch.REQUEST(max_wait_ms=0, min_bytes=1, max_bytes=max_bytes, topics=[topic])
    return _frame(ApiKey.FETCH, FETCH_VERSION, row)


def produce_response(topic_id: UUID) -> Any:
    entry = produce.PARTITION_RESPONSE(index=0, base_offset=1_000, log_start_offset=0)
    topic = produce.TOPIC_RESPONSE(topic_id=topic_id, partition_responses=[entry])
    return produce.RESPONSE(responses=[topic])


def fetch_response(topic_id: UUID, pieces: list[Piece]) -> Any:
    entry = fetch.PARTITION_RESPONSE(partition_index=0, high_watermark=1_000, records=pieces)
    topic = fetch.TOPIC_RESPONSE(topic_id=topic_id, partitions=[entry])
    return fetch.RESPONSE(responses=[topic])


def _frame(key: ApiKey, version: int, row: Row) -> memoryview:
    frame = request_frame(APIS[key], version, 1, "micro", row)
    return memoryview(bytearray(frame))[SIZE_FIELD:]
