"""The topic `_schemas`: read to its end, and written by several processes that have no leader.

All registries of a cluster write as one idempotent producer, with one id and epoch. The next
sequence number is read before the log is, and the records are sent with it. The broker takes each
number once. So if another registry has written since, the records are refused, or taken for a
duplicate of the others; in both cases they are not in the log, and the change is planned again on
the newer state.

What is in the log decides, and not the answer: after each append the log is read, and the change
has happened if its records are there. So a lost answer is no special case.

Programs that write to the topic as other producers are not held up by this. If one has written the
same key just before, its record is written again, and the change is planned again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from samsa.http_api.kafka_client import InProcessClient, check
from samsa.http_api.reading import READ_UNCOMMITTED, OffsetSpan, read
from samsa.http_api.sessions import Session
from samsa.http_api.writing import LAST_BY_NAME, STORED, TIMEOUT_MS
from samsa.log.producers import ProducerDraft, ProducerState
from samsa.ports import Partition, Topic, UnknownPartition
from samsa.records.record import Record, build
from samsa.runtime.logs import Repeated
from samsa.schemas import log_records
from samsa.schemas.log_records import LogRecord, Unreadable
from samsa.schemas.state import SchemaState
from samsa.topics.compacted import is_compacted
from samsa.topics.configs import Refused
from samsa.topics.resolve import partition_in
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import create_topics, produce

from .refusals import RegistryRefusal, store_failed

T = TypeVar("T")
log = logging.getLogger("samsa.schemas")
TOPIC = "_schemas"
CONFIGS = {"cleanup.policy": "compact", "max.message.bytes": "8388608"}
PRODUCER_ID = 1 << 62
"""Far above those that the ledger gives out."""
EPOCH = 0
"""Always: a newer epoch would be let in whatever was written before it."""
TRIES = 50
PAUSE_S = 0.005
RECORDS_AT_ONCE, BYTES_AT_ONCE = 1_000, 1 << 20
TOO_LARGE = (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE)

_skipped = Repeated(log, logging.WARNING, "a record of _schemas was skipped")


class Plan(NamedTuple, Generic[T]):
    """What a change writes, and what its client is told once that is stored."""

    answer: T
    records: Sequence[LogRecord] = ()


Planning = Callable[[SchemaState], Awaitable[Plan[T]]]


class SchemaLog:
    def __init__(self, kafka: InProcessClient) -> None:
        """`kafka` has all rights: what a client may do is asked before."""
        self._kafka = InProcessClient(kafka.served, Session())
        self.state = SchemaState()
        self._topic_id: UUID | None = None
        self._next = 0
        """The offset to read on from."""
        self._reading, self._writing = asyncio.Lock(), asyncio.Lock()
        self._since: list[LogRecord] = []
        """What was read since the change that is under way was planned."""
        self._is_watched = False

    async def caught_up(self) -> SchemaState:
        """The state at the end of the log. Raises Unavailable, Refused."""
        async with self._reading:
            topic = await self._kafka.broker.catalog.named(TOPIC)
            if topic is None or topic.id != self._topic_id:
                self.state, self._next = SchemaState(), 0
                self._topic_id = topic.id if topic else None
            if topic is not None:
                try:
                    await self._read_on(partition_in(topic, 0, -1))
                except UnknownPartition:  # it was deleted, which the catalog does not know yet
                    self.state, self._topic_id = SchemaState(), None
        return self.state

    async def _read_on(self, partition: Partition) -> None:
        broker = self._kafka.broker
        head = await broker.log.head(partition)
        if self._next < head.log_start:
            self.state, self._next = SchemaState(), head.log_start
        while self._next < head.next_offset:
            span = OffsetSpan(
                self._next, RECORDS_AT_ONCE, BYTES_AT_ONCE, isolation=READ_UNCOMMITTED
            )
            found = await read(TOPIC, partition.number, span, self._kafka)
            if found.next_offset <= self._next:
                return
            async for record in broker.work.pace(found.records):
                self._apply(record)
            self._next = found.next_offset

    def _apply(self, record: Record) -> None:
        if self._is_watched:
            self._since.append(LogRecord(record.key or b"", record.value))
        try:
            change = log_records.read(record.key, record.value)
            if change is not None:
                self.state.apply(change)
        except Unreadable as error:
            _skipped.happened(offset=record.offset, why=str(error))

    async def change(self, planning: Planning[T]) -> T:
        """Plan on the newest state, and write what was planned. Raises what the planning raises;
        Unavailable, RegistryRefusal."""
        async with self._writing:
            try:
                for attempt in range(TRIES):
                    topic = await self._topic()
                    sequence = await self._next_sequence(partition_in(topic, 0, -1))
                    state = await self.caught_up()
                    self._since, self._is_watched = [], True
                    plan = await planning(state)
                    if not plan.records or await self._write(plan.records, sequence):
                        return plan.answer
                    await asyncio.sleep(PAUSE_S * attempt)
            finally:
                self._since, self._is_watched = [], False
        raise store_failed("too many registries write at the same time")

    async def _write(self, records: Sequence[LogRecord], sequence: int) -> bool:
        """False: plan again."""
        await self._append(records, sequence)
        await self.caught_up()
        at = _position(records, self._since)
        if at is None:
            return False
        ours = {record.key for record in records}
        overwritten = [each for each in self._since[:at] if each.key in ours]
        if overwritten:
            sequence += len(records)
            await self._append(overwritten, sequence)
        return not overwritten and self._is_in_force(records)

    def _is_in_force(self, records: Sequence[LogRecord]) -> bool:
        """Whether the state took the schemas over: an id may be that of another schema by now."""
        for each in records:
            change = log_records.read(each.key, each.value)
            if isinstance(change, log_records.SchemaStored) and change.stored is not None:
                known = self.state.subjects.get(change.subject, {})
                if known.get(change.version) != change.stored:
                    return False
        return True

    async def _append(self, records: Sequence[LogRecord], sequence: int) -> None:
        """Whether it was done is seen in the log. Raises RegistryRefusal if it can never be."""
        now = self._kafka.broker.stores.clock.now_ms()
        batch = build(
            [Record(n, now, each.key, each.value) for n, each in enumerate(records)],
            producer_id=PRODUCER_ID,
            producer_epoch=EPOCH,
            base_sequence=sequence,
        )
        data = produce.PARTITION(index=0, records=memoryview(bytearray(batch)))
        row = produce.REQUEST(
            acks=STORED,
            timeout_ms=TIMEOUT_MS,
            topic_data=[produce.TOPIC(name=TOPIC, partition_data=[data])],
        )
        answer = await self._kafka.ask(ApiKey.PRODUCE, row, LAST_BY_NAME)
        (entry,) = answer.responses[0].partition_responses
        if entry.error_code in TOO_LARGE:
            raise RegistryRefusal(42201, f"Invalid schema: it is too large for the topic {TOPIC}")

    async def _next_sequence(self, partition: Partition) -> int:
        """Never above the one that the broker takes next. It may be old: then it is refused."""
        stores = self._kafka.broker.stores
        bound = await stores.retry(stores.journal.producer, partition, PRODUCER_ID)
        draft = ProducerDraft.of(ProducerState.of(bound) if bound else None)
        return draft.next_sequence() if draft else 0

    async def _topic(self) -> Topic:
        """The topic, which is created if there is none. Raises RegistryRefusal."""
        found = await self._kafka.broker.catalog.named(TOPIC) or await self._created()
        if not is_compacted(found):
            hint = f"samsa topics alter {TOPIC} --config cleanup.policy=compact"
            raise store_failed(f"{TOPIC} would lose its oldest schemas. {hint}")
        if found.partitions != 1:
            raise store_failed(f"{TOPIC} has {found.partitions} partitions, and may have one")
        return found

    async def _created(self) -> Topic:
        configs = [create_topics.CONFIG(name=n, value=v) for n, v in CONFIGS.items()]
        asked = create_topics.TOPIC(
            name=TOPIC, num_partitions=1, replication_factor=-1, configs=configs
        )
        row = create_topics.REQUEST(topics=[asked], timeout_ms=TIMEOUT_MS)
        made = (await self._kafka.ask(ApiKey.CREATE_TOPICS, row)).topics[0]
        if made.error_code != ErrorCode.TOPIC_ALREADY_EXISTS:
            check(made.error_code, made.error_message, TOPIC)
        found = await self._kafka.broker.catalog.named(TOPIC)
        if found is None:
            raise Refused(ErrorCode.KAFKA_STORAGE_ERROR, f"{TOPIC} was deleted")
        return found


def _position(records: Sequence[LogRecord], among: Sequence[LogRecord]) -> int | None:
    """Where the records are, one after the other."""
    wanted = list(records)
    for at in range(len(among) - len(wanted) + 1):
        if list(among[at : at + len(wanted)]) == wanted:
            return at
    return None
