"""Tells other functions what this one has counted against quotas, and learns what they have.

Each rate that is in use is told once a second, and at once if that much was counted as a second
grants. If the store does not answer in time, requests are served all the same, and limited by what
this function knows: nothing here raises.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping

from samsa.ports import Clock, NotDone
from samsa.runtime.logs import Repeated
from samsa.security.quotas import Limit
from samsa.security.shared_rates import SharedBucket, SharedRate, debt_ms

from .quota_usage import QuotaUsage

log = logging.getLogger("samsa.gateway")
WAIT_S = 0.5
"""The longest wait for the store."""
MOST_IN_A_SECOND = 20
"""Rates that are told in one second. Made-up client ids, each with a rate of its own, would else
cost an update with each request."""
MOST_MESSAGE = 300


class QuotaSharing:
    def __init__(self, usage: QuotaUsage, clock: Clock) -> None:
        self._usage = usage
        self._clock = clock
        self._second = 0
        self._told = 0
        """In this second."""
        self._failures = Repeated(log, logging.WARNING, "quotas are not shared with others")

    def begin(self, rates: Mapping[Limit, SharedRate]) -> asyncio.Task[None] | None:
        """Tell those that are due. None: there are none."""
        now_ms = self._clock.now_ms()
        due = [(limit, rate) for limit, rate in rates.items() if rate.is_due(limit.value, now_ms)]
        if due:
            due = due[: self._take_room(len(due), now_ms // 1000)]
        if not due:
            return None
        return asyncio.get_running_loop().create_task(self._tell_all(due, now_ms))

    async def share(self, rates: Mapping[Limit, SharedRate]) -> None:
        telling = self.begin(rates)
        if telling is not None:
            await telling

    def _take_room(self, wanted: int, second: int) -> int:
        if second != self._second:
            self._second, self._told = second, 0
        taken = min(wanted, MOST_IN_A_SECOND - self._told)
        self._told += taken
        return taken

    async def _tell_all(self, due: Iterable[tuple[Limit, SharedRate]], now_ms: int) -> None:
        await asyncio.gather(*(self._tell(limit, rate, now_ms) for limit, rate in due))

    async def _tell(self, limit: Limit, rate: SharedRate, now_ms: int) -> None:
        more = rate.tell(now_ms)
        try:
            async with asyncio.timeout(WAIT_S):
                totals = await self._usage.add(limit, more, now_ms // 1000)
        except NotDone as error:
            rate.was_not_told()
            self._failed(error)
        except asyncio.CancelledError:
            rate.may_be_told()
            raise
        except Exception as error:
            rate.may_be_told()
            self._failed(error)
        else:
            rate.learn(totals)

    async def look_at(self, limit: Limit, bucket: SharedBucket) -> None:
        """Learn what others have taken from a bucket."""
        try:
            async with asyncio.timeout(WAIT_S):
                bucket.learn(await self._usage.full_at(limit))
        except Exception as error:
            self._failed(error)

    async def take(self, limit: Limit, bucket: SharedBucket, count: int) -> None:
        """Tell that so much was taken from a bucket."""
        debt, now_ms = debt_ms(count, limit.value), self._clock.now_ms()
        try:
            async with asyncio.timeout(WAIT_S):
                bucket.learn(await self._usage.take(limit, debt, now_ms))
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        self._failures.happened(why=(str(error) or type(error).__name__)[:MOST_MESSAGE])
