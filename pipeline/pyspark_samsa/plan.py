"""Planning in the driver: from offsets to the extents that hold them."""

from samsa.log.read import OutOfRange
from samsa.ports import Partition, UnknownPartition

from .access import Access
from .errors import DataLoss
from .positions import TopicPartition
from .splits import Stretch

PAGE = 1_000
ANY_TIME = -1


async def stretches(
    access: Access,
    where: TopicPartition,
    partition: Partition,
    first: int,
    end: int,
    since: int = ANY_TIME,
) -> list[Stretch]:
    """The extents of [first, end), without those that are empty, or older than wanted.

    Raises DataLoss if the log does not reach back so far any more.
    """
    found: list[Stretch] = []
    offset = first
    while offset < end:
        try:
            extents = await access.log.reader.extents_from(partition, offset, end, PAGE)
        except OutOfRange as error:
            raise DataLoss(f"{where}: offset {offset} is gone; {error}") from None
        except UnknownPartition:
            raise DataLoss(f"{where}: the topic was deleted") from None
        found += [
            Stretch(where, partition.topic_id, extent, first, end)
            for extent in extents
            if extent.records != 0 and extent.max_timestamp >= since
        ]
        offset = extents[-1].end
    return found
