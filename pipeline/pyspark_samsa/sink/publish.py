"""Publishing a turn, in the driver: its batches are appended to the log, each of them once.

Every partition has a producer of its own, whose sequence numbers go on from turn to turn. What of
the turn is stored already, by an earlier try or by somebody beside us, the ledger tells: the last
batches that the producer bound. All before them are stored, and they themselves are sent again, for
the log to say whether they are.

Where the log does not know the producer any more, because its records have aged out or nobody has
heard of it for long, another producer takes over, at the record where the one before it stopped.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from pyspark_samsa.errors import SamsaError, UnknownTopic
from samsa.log.admit import Refusal
from samsa.log.core import Log
from samsa.log.layout import Batch
from samsa.log.producers import KEPT, SEQUENCES, ProducerState
from samsa.log.stores import Stores
from samsa.ports import Misconfigured, Partition, Topic, Unavailable, UnknownPartition
from samsa.records.batch import seal
from samsa.records.header import HEADER_SIZE, LOG_APPEND_TIME, read_header

from .batches import batches
from .plan import Producer, new_producer
from .staged import Piece
from .turns import Turn

AT_ONCE_BYTES = 8 * 1024 * 1024
TRIES, PAUSE_S, LONGEST_PAUSE_S = 12, 0.1, 5.0
"""Together longer than it takes until a slot is fenced that somebody left open."""


class NotNow(Exception):
    """Something is in the way that will pass."""


class Bound(NamedTuple):
    """What a producer has bound of a turn, in records."""

    resend_from: int
    end: int


class Publisher:
    """Of one partition's share of a turn."""

    def __init__(
        self, stores: Stores, log: Log, turn: Turn, topic: Topic, pieces: Sequence[Piece]
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
        producer = producer or self._new_producer(0)
        others, reason = 0, Exception()
        for number in range(TRIES):
            try:
                bound = await self._bound(producer)
                if bound is None:
                    producer = self._new_producer(others)
                elif await self._send(producer, others, bound.resend_from):
                    return producer.after(self._records - others)
                else:
                    others += await self._bound_by(producer)
                    producer = self._new_producer(others)
            except UnknownPartition:
                raise UnknownTopic(f"{self._where}: the topic was deleted meanwhile") from None
            except Misconfigured:
                raise  # waiting does not mend it
            except (NotNow, Unavailable) as error:
                reason = error
                await asyncio.sleep(min(PAUSE_S * 2**number, LONGEST_PAUSE_S))
        raise SamsaError(f"{self._where} cannot be written to: {reason}")

    def _new_producer(self, others: int) -> Producer:
        """For what comes after so many records of the turn, which are other producers'."""
        return new_producer(self._turn, self._partition, others)

    async def _bound_by(self, producer: Producer) -> int:
        bound = await self._bound(producer)
        return bound.end if bound else 0

    async def _bound(self, producer: Producer) -> Bound | None:
        """None if the producer is known no more: then it bound nothing of this turn."""
        found = await self._stores.insist(
            self._stores.ledger.producer, self._partition, producer.id
        )
        if found is None:
            return None if producer.next_sequence else Bound(0, 0)
        entries = ProducerState.unpack(found.state).entries
        end = _distance(producer.next_sequence, entries[-1].last + 1)
        of_last_slot = next(entry for entry in entries if entry.slot == entries[-1].slot)
        first = _distance(producer.next_sequence, of_last_slot.first)
        return Bound(first if first < end else 0, end)

    async def _send(self, producer: Producer, others: int, first: int) -> bool:
        """All that is the producer's, from its record `first` on. False if the log does not know it
        any more."""
        async for group in self._groups(producer, others, others + first):
            for outcome in await self._log.append_once(self._partition, group):
                if outcome.refusal is Refusal.UNKNOWN_PRODUCER:
                    return False
                if outcome.refusal is not None:
                    raise NotNow(outcome.refusal.value)
        return True

    async def _groups(
        self, producer: Producer, others: int, first: int
    ) -> AsyncIterator[list[Batch]]:
        """As many batches at a time as the log remembers of a producer, from a record on."""
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
            group.append(self._owned(data, producer.after(at - count - others)))
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


def _distance(first: int, last: int) -> int:
    return (last - first) % SEQUENCES
