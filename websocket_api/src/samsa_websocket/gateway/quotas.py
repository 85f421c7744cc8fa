"""The requests of one message, measured against the quotas of their clients.

As in Kafka (KIP-219) an answer is sent at once, and says for how long the client is throttled; the
shim mutes the connection for as long. A produce counts with its whole frame, when it comes. A fetch
counts in its handler, and is refused over the quota: answered without topics, and not parked.

Other functions are told, and what they have counted is learned, beside the handler; of a large
fetch they are told after it. Partitions that are created and deleted are counted by one bucket for
all functions, looked at before the handler and taken from after it.

Request time is not limited: each request has a function to itself, and slows down no other.
"""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from samsa.ports import Clock
from samsa.security.quotas import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    Limit,
)
from samsa.security.shared_rates import SharedBucket, SharedRate
from samsa.security.throttling import ClientThrottle, Throttling
from samsa.wire.apis import ApiKey
from samsa.wire.frame import KafkaRequest

from .quota_sharing import QuotaSharing
from .quota_usage import QuotaUsage
from .replies import pieces_of, size_of

if TYPE_CHECKING:
    from samsa.access.view import SecurityView
    from samsa.aws.table import Table
    from samsa.security.access import Access

MOST_RATES = 1_000
"""A client id may have 32 KB."""
LIMITED = {
    ApiKey.PRODUCE: PRODUCER_BYTE_RATE,
    ApiKey.FETCH: CONSUMER_BYTE_RATE,
    ApiKey.CREATE_TOPICS: CONTROLLER_MUTATION_RATE,
    ApiKey.DELETE_TOPICS: CONTROLLER_MUTATION_RATE,
    ApiKey.CREATE_PARTITIONS: CONTROLLER_MUTATION_RATE,
}


class Measured(NamedTuple):
    """One request that counts."""

    number: int
    """Its place among the requests of the message."""
    size: int
    """Of its frame."""
    limit: Limit
    throttle: ClientThrottle


class GatewayQuotas:
    """Made with the first quota that is in force."""

    def __init__(self, view: "SecurityView", table: "Table", clock: Clock) -> None:
        self.usage = QuotaUsage(table)
        self._clock = clock
        self.sharing = QuotaSharing(self.usage, clock)
        self.throttling = Throttling(
            lambda: view.quota_table,
            clock.now_ms,
            new_rate=SharedRate,
            new_bucket=SharedBucket,
            most_rates=MOST_RATES,
        )

    def of(
        self, requests: Sequence[KafkaRequest], sizes: Sequence[int], access: "Access"
    ) -> "MessageQuotas | None":
        """`requests` are of one API. None: nothing of them is limited."""
        key = LIMITED.get(ApiKey(requests[0].api_key)) if requests else None
        if key is None or not self.throttling.limits(key):
            return None
        user, measured = access.principal.name, []
        for number, (request, size) in enumerate(zip(requests, sizes, strict=True)):
            client_id = request.client_id or ""
            limit = self.throttling.limit(key, user, client_id)
            if limit is not None:
                throttle = ClientThrottle(self.throttling, user, client_id)
                measured.append(Measured(number, size, limit, throttle))
        return MessageQuotas(self, measured) if measured else None

    async def connect(self, host: str) -> int:
        """Count a new connection from an address. Above 0 it is to be refused: for so many
        milliseconds there are to be no more."""
        limit = self.throttling.limit_of_address(host)
        if limit is None:
            return 0
        rate, now_ms = self.rate(limit), self._clock.now_ms()
        rate.record(1, now_ms)
        await self.sharing.share({limit: rate})
        throttle_ms = rate.throttle_ms(limit.value, now_ms)
        if throttle_ms:
            rate.record(-1, now_ms)
        return throttle_ms

    def rate(self, limit: Limit) -> SharedRate:
        rate = self.throttling.rate(limit)
        assert isinstance(rate, SharedRate)
        return rate

    def bucket(self, limit: Limit) -> SharedBucket:
        bucket = self.throttling.bucket(limit)
        assert isinstance(bucket, SharedBucket)
        return bucket


class MessageQuotas:
    """To be entered before the handlers run, and left when the answer is made."""

    def __init__(self, quotas: GatewayQuotas, measured: list[Measured]) -> None:
        self._quotas = quotas
        self._measured = measured
        self._key = measured[0].limit.key
        self._sharing: asyncio.Task[None] | None = None
        self._sent = 0
        self.mute_ms = 0
        """For how long the client is to be silent."""

    @property
    def throttle(self) -> ClientThrottle:
        """Of a message with one request, for its handler."""
        return self._measured[0].throttle

    async def __aenter__(self) -> Self:
        quotas = self._quotas
        if self._key == CONTROLLER_MUTATION_RATE:
            limit = self._measured[0].limit
            await quotas.sharing.look_at(limit, quotas.bucket(limit))
            return self
        if self._key == PRODUCER_BYTE_RATE:
            for one in self._measured:
                one.throttle.record(self._key, one.size)
        rates = {one.limit: quotas.rate(one.limit) for one in self._measured}
        self._sharing = quotas.sharing.begin(rates)
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        """Also if a handler has failed: what it has done by then is counted."""
        if self._sharing is not None and not self._sharing.done():
            self._sharing.cancel()
            await asyncio.gather(self._sharing, return_exceptions=True)
        one = self._measured[0]
        if self._key == CONSUMER_BYTE_RATE:
            one.throttle.correct_fetch(self._sent)
            rate = self._quotas.rate(one.limit)
            await self._quotas.sharing.share({one.limit: rate})  # if there is much to tell
        elif one.throttle.mutated:
            bucket = self._quotas.bucket(one.limit)
            await self._quotas.sharing.take(one.limit, bucket, one.throttle.mutated)

    async def judge(self, rows: list[Any]) -> list[Any]:
        """The answers to be sent: they say for how long the client is throttled."""
        if self._sharing is not None:
            await self._sharing
        if self._key == PRODUCER_BYTE_RATE:
            self._judge_produces(rows)
        elif self._key == CONSUMER_BYTE_RATE:
            rows = [self._judge_fetch(rows[0])]
        else:
            self.mute_ms = rows[0].throttle_time_ms
        return rows

    def _judge_produces(self, rows: list[Any]) -> None:
        for one in self._measured:
            throttle_ms = one.throttle.record(self._key, 0)
            if rows[one.number] is not None:
                rows[one.number].throttle_time_ms = throttle_ms
            self.mute_ms = max(self.mute_ms, throttle_ms)

    def _judge_fetch(self, row: Any) -> Any:
        """Once more: what others have counted may be known only now."""
        throttle, size = self.throttle, self.throttle.fetched
        if size:
            throttle.correct_fetch(0)
            throttle_ms = throttle.record_fetch(size)
            if throttle_ms:
                row = type(row)(throttle_time_ms=throttle_ms)  # without topics
        self.mute_ms = row.throttle_time_ms
        return row

    def sent(self, row: Any) -> None:
        """The answer as it is sent: a fetch may have been cut. What is not sent is not counted."""
        if self._key == CONSUMER_BYTE_RATE:
            self._sent = size_of(pieces_of(row))
