"""Message sets for clients older than Kafka 0.11, converted from stored batches.

Partitions and batches are converted one after the other, and only up to the size of the answer: a
batch may unpack to a thousand times its size.
"""

from samsa.broker.broker import Broker
from samsa.ports import FileRange, Piece
from samsa.records.bounded import Buffer
from samsa.records.errors import RecordError
from samsa.records.legacy import WantedMessages, from_batches
from samsa.topics.configs import Refused

from .checks import CODES
from .reads import Read

LAST_WITH_MESSAGE_SETS = 3
LAST_CUT_AT_MAX_BYTES = 2
LAST_WITH_MAGIC_0 = 1
MAX_BYTES = 16 * 1024 * 1024
"""For all message sets of an answer, even if the client allows more; one message may be larger."""


class MessageSets:
    """The message sets of one answer."""

    def __init__(self, version: int, max_bytes: int, broker: Broker) -> None:
        self._magic = 0 if version <= LAST_WITH_MAGIC_0 else 1
        self._cut = version <= LAST_CUT_AT_MAX_BYTES
        self._left = max_bytes
        self._broker = broker

    def memory(self, reads: list[Read]) -> int:
        """The memory for the message sets and for the stored batches that they are made from."""
        wanted = sum(max(0, read.entry.partition_max_bytes) for read in reads)
        made: int = min(wanted, self._left)
        return made + sum(read.plan.size for read in reads if read.plan)

    async def load(self, read: Read) -> None:
        """Raises Missing and Unavailable."""
        found = b""
        if self._left > 0:
            try:
                found = await self._messages(read)
            except RecordError as error:
                read.refuse(Refused(CODES[type(error)], str(error)))
                return
        self._left -= len(found)
        read.pieces = [found]

    async def _messages(self, read: Read) -> bytes:
        """Messages from the fetch offset on. Fillers give no messages, so read on past them."""
        assert read.plan is not None
        assert read.partition is not None
        broker, ranges, end = self._broker, read.plan.ranges, read.plan.visible_end
        max_bytes = min(read.entry.partition_max_bytes, self._left)
        wanted = WantedMessages(self._magic, read.entry.fetch_offset, max_bytes, self._cut)
        while ranges:
            stored = map(_bytes, await broker.log.load(ranges))
            limit = broker.rules.work.max_made_bytes
            found = await broker.unpacking.run(from_batches(stored, wanted, limit))
            offset = ranges[-1].end_offset
            if found or offset >= end:
                return found
            wanted = wanted._replace(offset=offset)
            ranges = (await broker.log.plan(read.partition, offset, max_bytes)).ranges
        return b""


def _bytes(piece: Piece) -> Buffer:
    return piece.read() if isinstance(piece, FileRange) else piece
