"""The topics that rows go to, as the ledger has them: looked up once in each task."""

import asyncio
from typing import NamedTuple

from pyspark_samsa.access import opened
from pyspark_samsa.errors import BadRows, UnknownTopic, did_you_mean
from samsa.ports import Topic
from samsa.topics.compacted import is_compacted
from samsa.topics.configs import Refused, number
from samsa.topics.internal import refuse_internal

from .options import NamedWrite, SinkOptions
from .turns import BY_COLUMN, Turn


class Target(NamedTuple):
    name: str
    partitions: int
    most: int
    """The largest batch that it takes."""
    wants_keys: bool


class Targets:
    def __init__(self, options: SinkOptions) -> None:
        self._options = options
        self._known: dict[str, Target] = {}

    def target(self, name: str) -> Target:
        """Raises UnknownTopic, BadRows."""
        if name not in self._known:
            self._known[name] = asyncio.run(self._look_up(name))
        return self._known[name]

    async def _look_up(self, name: str) -> Target:
        return target_of(await look_up(self._options.ledger, self._options.objects, name))


async def look_up(ledger: str, objects: str, name: str) -> Topic:
    """Raises UnknownTopic."""
    async with opened(ledger, objects) as access:
        topic = await access.ledger.topic(name)
        if topic is None:
            raise unknown(name, [each.name for each in await access.ledger.topics()])
    return topic


async def named_turn(options: SinkOptions, named: NamedWrite) -> Turn:
    """The turn of a named write belongs to the topic, as one of Delta belongs to the table: the
    same name and version may write to other topics."""
    target = BY_COLUMN
    if options.topic is not None:
        target = (await look_up(options.ledger, options.objects, options.topic)).id.hex
    return Turn(named.app, named.version, target=target)


def target_of(topic: Topic) -> Target:
    try:
        refuse_internal(topic)
    except Refused as refused:
        raise BadRows(str(refused)) from None
    most = number(topic, "max.message.bytes")
    return Target(topic.name, topic.partitions, most, is_compacted(topic))


def unknown(name: str, known: list[str]) -> UnknownTopic:
    hint = did_you_mean(name, known) or f"; `samsa topics create {name}` makes it"
    return UnknownTopic(f"there is no topic {name!r} to write to{hint}")
