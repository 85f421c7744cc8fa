"""Planning: from offsets to the extents that hold them."""

from bisect import bisect_left

from samsa.log.read import OutOfRange
from samsa.ports import Extent, Partition, UnknownPartition

from .access import Access
from .losses import Losses
from .positions import TopicPartition
from .splits import Stretch

PAGE = 1_000
ANY_TIME = -1


class Planner:
    def __init__(self, access: Access, losses: Losses) -> None:
        self._reader = access.log.reader
        self._losses = losses

    async def stretches(
        self,
        where: TopicPartition,
        partition: Partition,
        first: int,
        end: int,
        since: int = ANY_TIME,
        most_bytes: int | None = None,
    ) -> list[Stretch]:
        """The extents of [first, end), without those that are empty, or older than wanted.

        Not many more than make up `most_bytes`. Raises DataLoss if the log does not reach back so
        far any more, and that is not to be put up with.
        """
        found: list[Stretch] = []
        offset, size = first, 0
        while offset < end and (most_bytes is None or size < most_bytes):
            try:
                extents = await self._reader.extents_from(partition, offset, end, PAGE)
            except OutOfRange as error:
                self._losses.report(f"{where}: offset {offset} is gone; {error}")
                offset = error.log_start
                continue
            except UnknownPartition:
                self._losses.report(f"{where}: the topic was deleted")
                break
            found += [
                Stretch(where, partition.topic_id, extent, max(first, _begin(extent, since)), end)
                for extent in extents
                if extent.records != 0 and extent.max_timestamp >= since
            ]
            size += sum(extent.size for extent in extents)
            offset = extents[-1].end
        return found


def _begin(extent: Extent, since: int) -> int:
    """The first offset in it that may be recent enough: its marks know the times before them."""
    older = bisect_left(extent.times, since)
    return extent.base + (extent.marks[older - 1][0] if older else 0)
