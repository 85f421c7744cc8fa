"""Stores records: one batch for each partition, in one Produce request."""

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from samsa.ports import Topic
from samsa.records.record import Headers, Record, build
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import produce

from .kafka_client import KafkaClient
from .partitioner import partition_in_steps

LAST_BY_NAME = 12
STORED = -1
"""acks: the records are stored before the answer."""
TIMEOUT_MS = 20_000


class RecordDraft(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None
    timestamp: int | None = None


class TargetPartition(NamedTuple):
    """Where a draft went."""

    partition: int
    stored: int | Refused
    """Its offset, or why there is none."""


async def write(
    topic: Topic, drafts: Sequence[RecordDraft], kafka: KafkaClient
) -> list[TargetPartition]:
    """A place for each draft, in order. Records of one partition are stored together or not at
    all."""
    now, word = kafka.now_ms(), kafka.nonce()
    at, data = await kafka.work.in_slices(_batched(topic, drafts, now, word))
    bases = await _send(topic.name, data, kafka)
    return [TargetPartition(number, _offset(bases[number], index)) for number, index in at]


def _batched(
    topic: Topic, drafts: Sequence[RecordDraft], now: int, word: str
) -> Generator[None, None, tuple[list[tuple[int, int]], list[Any]]]:
    """The partition of each draft and its place in the batch; and the batches, as produced."""
    batches: dict[int, list[Record]] = {}
    at: list[tuple[int, int]] = []
    for draft in drafts:
        number = draft.partition
        if number is None:
            number = yield from partition_in_steps(draft.key, topic.partitions, word)
        batch = batches.setdefault(number, [])
        at.append((number, len(batch)))
        time = now if draft.timestamp is None else draft.timestamp
        batch.append(Record(len(batch), time, draft.key, draft.value, draft.headers))
        yield
    data: list[Any] = []
    for number, records in batches.items():
        # Its bytes must be writable: an append patches offsets in place.
        batch_bytes = memoryview(bytearray(build(records)))
        data.append(produce.PARTITION(index=number, records=batch_bytes))
        yield
    return at, data


def _offset(base: int | Refused, index: int) -> int | Refused:
    return base if isinstance(base, Refused) else base + index


async def _send(topic: str, data: list[Any], kafka: KafkaClient) -> dict[int, int | Refused]:
    """The offset of each batch, or why it has none."""
    row = produce.REQUEST(
        acks=STORED,
        timeout_ms=TIMEOUT_MS,
        topic_data=[produce.TOPIC(name=topic, partition_data=data)],
    )
    answer = await kafka.ask(ApiKey.PRODUCE, row, LAST_BY_NAME)
    entries = answer.responses[0].partition_responses
    return {entry.index: _outcome(entry, topic) for entry in entries}


def _outcome(entry: Any, topic: str) -> int | Refused:
    if entry.error_code == ErrorCode.NONE:
        return int(entry.base_offset)
    code = ErrorCode(entry.error_code)
    return Refused(code, entry.error_message or f"{topic}/{entry.index}: {code.name.lower()}")
