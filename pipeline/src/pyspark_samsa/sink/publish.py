"""Publishes a turn, in the driver: its batches are appended to the log, each of them once.

Every partition has a producer of its own, whose sequence numbers go on from turn to turn. The
producer's state shows how much of the turn is stored already, by an earlier try or by another
process: it is stored in the commit that stores the batches. Only what comes after them is sent.

If the log does not know the producer any more, because it was not used for long, a new producer
takes over with the turn.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from pyspark_samsa.errors import SamsaError, UnknownTopic
from samsa.log.core import Log
from samsa.log.layout import Batch
from samsa.log.producers import KEPT, SEQUENCES, ProducerState
from samsa.log.stores import Stores
from samsa.ports import Misconfigured, Partition, Topic, Unavailable, UnknownPartition
from samsa.records.batch import seal
from samsa.records.header import HEADER_SIZE, LOG_APPEND_TIME, read_header

from .batches import batches
from .plan import Producer, new_producer
from .staged import StagedPiece
from .turns import Turn

AT_ONCE_BYTES = 8 * 1024 * 1024
TRIES, PAUSE_S, LONGEST_PAUSE_S = 12, 0.1, 5.0


class NotNow(Exception):
    """A temporary failure: try again later."""


class Publisher:
    """Of one partition's share of a turn."""

    def __init__(
        self, stores: Stores, log: Log, turn: Turn, topic: Topic, pieces: Sequence[StagedPiece]
    ) -> None:
        self._stores = stores
        self._log = log
        self._turn = turn
        self._pieces = pieces
        self._records = sum(piece.records for piece in pieces)
        self._where = pieces[0].where
        self._partition = Partition(topic.id, self._where.number)
        kind = topic.configs.get("message.timestamp.type", "").strip()
        self._is_stamped = kind == "LogAppendTime"

    async def publish(self, producer: Producer | None) -> Producer:
        """The producer as it is afterwards. Raises SamsaError, Missing."""
        fresh = new_producer(self._turn, self._partition)
        producer, reason = producer or fresh, Exception()
        for number in range(TRIES):
            try:
                stored = await self._stored(producer)
                if stored is None:
                    producer, stored = fresh, await self._stored(fresh) or 0
                await self._send(producer, stored)
                return producer.after(self._records)
            except UnknownPartition:
                raise UnknownTopic(f"{self._where}: the topic was deleted meanwhile") from None
            except Misconfigured:
                raise  # waiting does not help
            except (NotNow, Unavailable) as error:
                reason = error
                await asyncio.sleep(min(PAUSE_S * 2**number, LONGEST_PAUSE_S))
        raise SamsaError(f"{self._where} cannot be written to: {reason}")

    async def _stored(self, producer: Producer) -> int | None:
        """How many of the turn's records the producer has stored. None if it is known no more: then
        it stored nothing of this turn."""
        found = await self._stores.retry(
            self._stores.journal.producer, self._partition, producer.id
        )
        if found is None:
            return None if producer.next_sequence else 0
        last = ProducerState.of(found).entries[-1].last
        return (last + 1 - producer.next_sequence) % SEQUENCES

    async def _send(self, producer: Producer, first: int) -> None:
        """The turn's records from the record `first` on."""
        async for group in self._groups(producer, first):
            for outcome in await self._log.append_once(self._partition, group):
                if outcome.refusal is not None:
                    raise NotNow(outcome.refusal.value)

    async def _groups(self, producer: Producer, first: int) -> AsyncIterator[list[Batch]]:
        """Groups of as many batches as the log remembers of a producer, from this record on."""
        group: list[Batch] = []
        size, at = 0, 0
        async for data in batches(self._stores.objects, self._pieces):
            count = read_header(data).count
            at += count
            if at <= first:
                continue
            if group and (len(group) == KEPT or size + len(data) > AT_ONCE_BYTES):
                yield group
                group, size = [], 0
            group.append(self._owned(data, producer.after(at - count)))
            size += len(data)
        if group:
            yield group

    def _owned(self, data: bytes, producer: Producer) -> Batch:
        header = read_header(data)._replace(
            producer_id=producer.id, producer_epoch=0, base_sequence=producer.next_sequence
        )
        if self._is_stamped:
            header = header._replace(
                attributes=header.attributes | LOG_APPEND_TIME,
                max_timestamp=self._stores.clock.now_ms(),
            )
        owned = bytearray(seal(header, data[HEADER_SIZE:]))
        return Batch(read_header(owned), memoryview(owned))
