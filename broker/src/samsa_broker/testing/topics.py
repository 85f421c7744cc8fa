"""Topics of a cluster: made, deleted, written to."""

from collections.abc import Mapping, Sequence
from typing import Any

from samsa.records.record import Record as Draft
from samsa.records.record import build
from samsa.topics.internal import INTERNAL
from samsa.wire.apis import ApiKey
from samsa.wire.messages import create_topics, delete_topics, metadata, produce

from .asking import LAST_BY_NAME, Asking, check
from .record import Record

STORED = -1
"""acks: the records are stored before the answer."""
TIMEOUT_MS = 20_000


async def create(asking: Asking, name: str, partitions: int, configs: Mapping[str, str]) -> None:
    given = [create_topics.CONFIG(name=key, value=value) for key, value in configs.items()]
    topic = create_topics.TOPIC(
        name=name, num_partitions=partitions, replication_factor=-1, configs=given
    )
    answer = await asking.ask(ApiKey.CREATE_TOPICS, create_topics.REQUEST(topics=[topic]))
    made = answer.topics[0]
    check(made.error_code, made.error_message, f"topic {name!r} was not created")


async def delete(asking: Asking, name: str) -> None:
    row = delete_topics.REQUEST(
        topics=[delete_topics.TOPIC(name=name)], topic_names=[name], timeout_ms=TIMEOUT_MS
    )
    gone = (await asking.ask(ApiKey.DELETE_TOPICS, row)).responses[0]
    check(gone.error_code, gone.error_message, f"topic {name!r} was not deleted")


async def partitions(asking: Asking) -> dict[str, int]:
    """How many partitions each topic has."""
    found = await asking.broker.catalog.all()
    return {topic.name: topic.partitions for topic in found if topic.name not in INTERNAL}


async def describe(asking: Asking, name: str, create: bool = False) -> int:
    """The number of its partitions."""
    row = metadata.REQUEST(topics=[metadata.TOPIC(name=name)], allow_auto_topic_creation=create)
    topic = (await asking.ask(ApiKey.METADATA, row)).topics[0]
    if topic.error_code:
        there = ", ".join(await partitions(asking)) or "none"
        check(topic.error_code, None, f"topic {name!r} (there are: {there})")
    return len(topic.partitions)


async def write(asking: Asking, topic: str, number: int, drafts: Sequence[Any]) -> list[Record]:
    """Append one batch to a partition."""
    await describe(asking, topic, create=True)
    now = asking.broker.stores.clock.now_ms()
    batch = [
        Draft(index, now if time is None else time, key, value, headers)
        for index, (key, value, headers, time) in enumerate(drafts)
    ]
    # Its bytes must be writable: an append patches offsets in place.
    data = produce.PARTITION(index=number, records=memoryview(bytearray(build(batch))))
    row = produce.REQUEST(
        acks=STORED,
        timeout_ms=TIMEOUT_MS,
        topic_data=[produce.TOPIC(name=topic, partition_data=[data])],
    )
    answer = await asking.ask(ApiKey.PRODUCE, row, LAST_BY_NAME)
    entry = answer.responses[0].partition_responses[0]
    check(entry.error_code, entry.error_message, f"{topic}/{number}: nothing was written")
    return [
        Record(topic, number, entry.base_offset + one.offset, one.timestamp, *one[2:])
        for one in batch
    ]
