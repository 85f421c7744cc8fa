"""The broker, asked in its own process: a Kafka client's requests without the wire."""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from hashlib import blake2b
from typing import Annotated, Any

from fastapi import Depends, Request

from samsa.handlers.broker import HANDLERS, Broker, Context, Held, Later
from samsa.handlers.configs import Refused
from samsa.ports import Partition, Topic
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode

CLIENT_ID = "samsa-http"
NEWEST = 1_000
MOST_WAITING = 50
MOST_S = 20.0
"""For an append, whatever its client would wait: API Gateway waits for 29 s."""


class Kafka:
    def __init__(
        self, broker: Broker, address: tuple[str, int] | None = None, may_wait: bool = True
    ) -> None:
        self.broker = broker
        self.address = address
        """Where Kafka clients come in, if they do so here."""
        self.may_wait = may_wait
        """False in a function, which is paid for while it waits."""
        self._waiting = 0

    @contextmanager
    def waiting(self, wait_ms: int) -> Iterator[int]:
        """How long a read may wait for records. Where many wait already it is told at once that
        there are none: each that waits keeps one of a hundred connections."""
        allowed = wait_ms if self.may_wait and self._waiting < MOST_WAITING else 0
        self._waiting += allowed > 0
        try:
            yield allowed
        finally:
            self._waiting -= allowed > 0

    @asynccontextmanager
    async def answered(self, key: ApiKey, row: Any, at_most: int = NEWEST) -> AsyncIterator[Any]:
        """The answer, whose memory counts as in use for as long as the block lasts."""
        version = min(APIS[key].versions[-1], at_most)
        context = Context(version, CLIENT_ID, self.address or ("", 0), asks_all=True)
        given = await HANDLERS[key](row, context, self.broker)
        if isinstance(given, Later):
            if given.under_way:
                await asyncio.wait(given.under_way, timeout=min(given.timeout_s or MOST_S, MOST_S))
            given = given.build()
        if not isinstance(given, Held):
            yield given
            return
        try:
            yield given.row
        finally:
            given.release()

    async def ask(self, key: ApiKey, row: Any, at_most: int = NEWEST) -> Any:
        async with self.answered(key, row, at_most) as answer:
            return answer

    async def topic(self, name: str, create: bool = False) -> Topic:
        """Raises Refused."""
        return await self.broker.catalog.named_or_created(name, create)

    async def partition(self, name: str, number: int) -> Partition:
        """Raises Refused."""
        from samsa.handlers.resolve import partition_in

        return partition_in(await self.topic(name), number, -1)

    async def cluster_id(self) -> str:
        """A function does not know it before somebody asks."""
        if not self.broker.cluster_id:
            stores = self.broker.stores
            digest = blake2b(stores.nonce().encode(), digest_size=16).digest()
            proposed = urlsafe_b64encode(digest).decode().rstrip("=")
            self.broker.cluster_id = await stores.ledger.cluster_id(proposed)
        return self.broker.cluster_id


def check(code: int, message: str | None, what: str) -> None:
    """Raises Refused, in the handler's words if it had any."""
    if code:
        error = ErrorCode(code)
        raise Refused(error, message or f"{what}: {error.name.lower().replace('_', ' ')}")


def _kafka_of(request: Request) -> Kafka:
    kafka: Kafka = request.app.state.kafka
    return kafka


Asked = Annotated[Kafka, Depends(_kafka_of)]
