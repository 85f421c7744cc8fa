"""Transactions on a log of tests, and a reader with read_committed, as Kafka's clients are."""

from collections.abc import Sequence

from unit.log.given import PARTITION, Given, sequenced

from samsa.log.admit import Outcome
from samsa.log.append import Marker
from samsa.log.layout import Batch
from samsa.ports import Aborted, End
from samsa.records import headers, read_header, records
from samsa.records.batch import seal
from samsa.records.control import commits
from samsa.records.header import HEADER_SIZE, TRANSACTIONAL


def transactional(
    first: int, serial: int = 1, records: int = 1, epoch: int = 0, producer_id: int = 7
) -> Batch:
    plain = sequenced(first, records, epoch, producer_id)
    header = plain.header._replace(attributes=TRANSACTIONAL)
    data = bytearray(seal(header, bytes(plain.data[HEADER_SIZE:])))
    return Batch(read_header(data), memoryview(data), serial)


async def append(given: Given, *batches: Batch) -> list[Outcome]:
    return await given.log.append_once(PARTITION, batches)


async def end(
    given: Given, how: End, serial: int = 1, epoch: int = 0, producer_id: int = 7
) -> bool:
    return await given.log.mark(PARTITION, Marker(producer_id, epoch, serial, how))


async def committed(given: Given, offset: int = 0, max_bytes: int = 1_000_000) -> list[bytes]:
    """The values that a reader with read_committed delivers, from an offset on."""
    found: list[bytes] = []
    while True:
        plan = await given.log.plan(PARTITION, offset, max_bytes, committed=True)
        if not plan.ranges:
            return found
        data = b"".join(map(bytes, await given.log.load(plan.ranges)))
        found += delivered(data, plan.aborted, offset)
        offset = plan.ranges[-1].end_offset


def delivered(data: bytes, aborted: Sequence[Aborted], offset: int) -> list[bytes]:
    """What a client takes from one answer: it leaves out what the aborted transactions hold."""
    waiting = sorted(aborted, key=lambda one: one.first)
    aborting: set[int] = set()
    found: list[bytes] = []
    for position, header in headers(data):
        while waiting and waiting[0].first <= header.base_offset:
            aborting.add(waiting.pop(0).producer_id)
        if header.is_control:
            if not commits(data[position : position + header.size]):
                aborting.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborting):
            some = records(data, position)
            found += [bytes(one.value or b"") for one in some if one.offset >= offset]
    return found
