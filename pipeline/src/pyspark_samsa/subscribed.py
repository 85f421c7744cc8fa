"""Which partitions a subscription means, as the ledger has them now."""

import re
from collections.abc import Mapping

from samsa.ports import Ledger, Partition, Topic
from samsa.topics.internal import INTERNAL

from .errors import UnknownTopic, did_you_mean
from .options import AssignedPartitions, Names, Pattern, Subscription
from .positions import TopicPartition

Partitions = Mapping[TopicPartition, Partition]


async def subscribed(
    ledger: Ledger, subscription: Subscription, missing_is_error: bool = True
) -> dict[TopicPartition, Partition]:
    """Partitions in order. Raises UnknownTopic for a named topic that does not exist, or leaves it
    out."""
    topics = {topic.name: topic for topic in await ledger.topics()}
    if not missing_is_error:
        subscription = _what_is_left(subscription, topics)
    match subscription:
        case Names(names):
            chosen = {name: _every(_known(name, topics)) for name in names}
        case Pattern(expression):
            pattern = re.compile(expression)
            chosen = {
                name: _every(topic)
                for name, topic in topics.items()
                # The broker's own topics have to be named, as in Spark's Kafka source.
                if name not in INTERNAL and pattern.fullmatch(name)
            }
        case AssignedPartitions(partitions):
            chosen = {
                name: _some(_known(name, topics), numbers) for name, numbers in partitions.items()
            }
    return {
        TopicPartition(name, number): Partition(topics[name].id, number)
        for name, numbers in sorted(chosen.items())
        for number in numbers
    }


def _what_is_left(subscription: Subscription, topics: Mapping[str, Topic]) -> Subscription:
    match subscription:
        case Names(names):
            return Names(tuple(name for name in names if name in topics))
        case AssignedPartitions(partitions):
            return AssignedPartitions(
                {name: some for name, some in partitions.items() if name in topics}
            )
    return subscription


def _known(name: str, topics: Mapping[str, Topic]) -> Topic:
    if name not in topics:
        raise UnknownTopic(f"there is no topic {name!r}{did_you_mean(name, topics)}")
    return topics[name]


def _every(topic: Topic) -> tuple[int, ...]:
    return tuple(range(topic.partitions))


def _some(topic: Topic, numbers: tuple[int, ...]) -> tuple[int, ...]:
    for number in numbers:
        if not 0 <= number < topic.partitions:
            raise UnknownTopic(
                f"there is no partition {number} of {topic.name!r}: it has {topic.partitions}"
            )
    return tuple(sorted(set(numbers)))
