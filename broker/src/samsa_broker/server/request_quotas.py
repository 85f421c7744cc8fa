"""The requests of one connection, measured against the quotas of its client.

As in Kafka (KIP-219), in every version: an answer is sent at once and says for how long the client
is throttled, and the connection is muted for as long. A produce counts with its whole frame, when
it is taken: what a client pipelines waits behind it. A fetch counts in its handler. Request time is
the time that a request keeps the event loop. A fetch of a client that is over its request time is
answered without records, before anything is looked up.
"""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from samsa.broker.broker import Answer, Held, Later
from samsa.client_requests import ClientRequests
from samsa.security.quotas import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
)
from samsa.security.throttling import ClientThrottle
from samsa.wire.apis import ApiKey
from samsa.wire.frame import KafkaRequest
from samsa.wire.messages import fetch

from .timed import Timed

if TYPE_CHECKING:
    from .stats import ServerStats

PER_CENT = 100
OF_HANDLERS = {ApiKey.FETCH: CONSUMER_BYTE_RATE}
"""The quota that a handler has looked at by itself, if it is not that of mutations."""


class RequestQuotas:
    def __init__(
        self, requests: ClientRequests, stats: "ServerStats", mute: Callable[[float], None]
    ) -> None:
        """`mute` gets seconds."""
        self._requests = requests
        self._stats = stats
        self._mute = mute

    async def answer(self, request: KafkaRequest, size: int) -> Answer:
        """`size` is that of the frame. Raises DecodeError; Unavailable."""
        throttle = self._requests.throttle(request)
        if throttle is None:
            return await self._requests.answer(request)
        if request.api_key == ApiKey.FETCH:
            over_ms = throttle.record(REQUEST_PERCENTAGE, 0)
            if over_ms:
                self._throttled(REQUEST_PERCENTAGE, over_ms)
                return fetch.RESPONSE(throttle_time_ms=over_ms)
        timed = Timed(self._requests.answer(request))
        try:
            answer = await timed
        finally:
            spent_ms = throttle.record(REQUEST_PERCENTAGE, timed.seconds * PER_CENT)
        if isinstance(answer, Later):
            self.count_produce(answer, throttle, size, spent_ms)
        elif answer is not None and not isinstance(answer, Held):
            self._count_row(request, answer, spent_ms)
        return answer

    def count_produce(
        self, later: Later, throttle: ClientThrottle, size: int, spent_ms: int = 0
    ) -> None:
        bytes_ms = throttle.record(PRODUCER_BYTE_RATE, size)
        later.throttle_ms = max(bytes_ms, spent_ms)
        is_of_bytes = bytes_ms > spent_ms
        key = PRODUCER_BYTE_RATE if is_of_bytes else REQUEST_PERCENTAGE
        self._throttled(key, later.throttle_ms)

    def _count_row(self, request: KafkaRequest, row: Any, spent_ms: int) -> None:
        handler_ms = getattr(row, "throttle_time_ms", 0)
        if request.api_key == ApiKey.FETCH:
            spent_ms = 0  # its next one is refused
        if spent_ms > handler_ms:
            if hasattr(row, "throttle_time_ms"):
                row.throttle_time_ms = spent_ms
            self._throttled(REQUEST_PERCENTAGE, spent_ms)
        else:
            key = OF_HANDLERS.get(ApiKey(request.api_key), CONTROLLER_MUTATION_RATE)
            self._throttled(key, handler_ms)

    async def finish(self, request: KafkaRequest, work: Coroutine[Any, Any, None]) -> None:
        """Counts the time of what comes after the answer is known: it is paid by later requests."""
        throttle = self._requests.throttle(request)
        if throttle is None:
            await work
            return
        timed = Timed(work)
        try:
            await timed
        finally:
            throttle.record(REQUEST_PERCENTAGE, timed.seconds * PER_CENT)

    def _throttled(self, key: str, wait_ms: int) -> None:
        if wait_ms:
            self._stats.throttled[key] += 1
            self._stats.throttled_ms[key] += wait_ms
            self._mute(wait_ms / 1000)
