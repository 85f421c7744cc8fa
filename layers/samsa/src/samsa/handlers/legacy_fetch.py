"""What a client of before Kafka 0.11 gets: a message set, made from the batches."""

from samsa.ports import FileRange, Piece
from samsa.records.errors import RecordError
from samsa.records.legacy import from_batches
from samsa.wire.errors import ErrorCode

from .broker import Broker
from .configs import Refused
from .reads import Read

LAST_WITH_MESSAGE_SETS = 3
LAST_CUT_AT_MAX_BYTES = 2
LAST_WITH_MAGIC_0 = 1
MESSAGE_OVERHEAD = 12


async def message_set(read: Read, version: int, broker: Broker) -> bytes:
    """Messages from the offset on. Filler is nothing to such a client, so go past it."""
    assert read.plan is not None
    assert read.partition is not None
    offset, ranges, end = read.entry.fetch_offset, read.plan.ranges, read.plan.visible_end
    magic = 0 if version <= LAST_WITH_MAGIC_0 else 1
    while ranges:
        data = b"".join(_bytes(piece) for piece in await broker.log.load(ranges))
        try:
            found = from_batches(data, magic, offset, None)
        except RecordError as error:
            read.refuse(Refused(ErrorCode.CORRUPT_MESSAGE, str(error)))
            return b""
        if found:
            return _cut(found, read.entry.partition_max_bytes, version)
        offset = ranges[-1].end_offset
        if offset >= end:
            break
        plan = await broker.log.plan(read.partition, offset, read.entry.partition_max_bytes)
        ranges = plan.ranges
    return b""


def _cut(messages: bytes, max_bytes: int, version: int) -> bytes:
    if version > LAST_CUT_AT_MAX_BYTES:
        return messages
    first = MESSAGE_OVERHEAD + int.from_bytes(messages[8:12], "big")
    return messages[: max(max_bytes, first)]


def _bytes(piece: Piece) -> bytes | bytearray | memoryview:
    return piece.read() if isinstance(piece, FileRange) else piece
