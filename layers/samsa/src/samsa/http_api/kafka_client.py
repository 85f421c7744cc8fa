"""Asks the broker in its own process: a Kafka client's requests without the wire."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated, Any

from fastapi import Depends, Request

from samsa.broker.answer_rows import row_of
from samsa.broker.broker import HANDLERS, Broker, Context
from samsa.ports import Partition, Topic
from samsa.topics.configs import Refused
from samsa.topics.permitted import visible
from samsa.topics.resolve import partition_in, topic_or_new
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode

from .sessions import SESSION, Session

CLIENT_ID = "samsa-http"
NEWEST = 1_000
MOST_WAITING = 50


class ServedBroker:
    """What all HTTP clients of one broker share."""

    def __init__(
        self, broker: Broker, address: tuple[str, int] | None = None, may_wait: bool = True
    ) -> None:
        self.broker = broker
        self.address = address
        """The address for Kafka clients, if this process has one."""
        self.may_wait = may_wait
        """False in a function, because waiting costs money there."""
        self._waiting = 0

    @contextmanager
    def waiting(self, wait_ms: int) -> Iterator[int]:
        """How long a read may wait for records. If many reads wait already, it does not wait: each
        one that waits keeps one of a hundred connections."""
        allowed = wait_ms if self.may_wait and self._waiting < MOST_WAITING else 0
        self._waiting += allowed > 0
        try:
            yield allowed
        finally:
            self._waiting -= allowed > 0


class InProcessClient:
    """One HTTP request, with the rights of its client."""

    def __init__(self, served: ServedBroker, session: Session) -> None:
        self.broker = served.broker
        self.address = served.address
        self.waiting = served.waiting
        self.session = session

    @asynccontextmanager
    async def answered(self, key: ApiKey, row: Any, at_most: int = NEWEST) -> AsyncIterator[Any]:
        """The answer. Its memory counts as in use until the block ends."""
        version = min(APIS[key].versions[-1], at_most)
        address = self.address or ("", 0)
        access, host, on_answer = self.session
        context = Context(version, CLIENT_ID, address, host, asks_all=True, access=access)
        async with row_of(await HANDLERS[key](row, context, self.broker)) as answer:
            if on_answer is not None:
                on_answer(key, row, answer)
            yield answer

    async def ask(self, key: ApiKey, row: Any, at_most: int = NEWEST) -> Any:
        async with self.answered(key, row, at_most) as answer:
            return answer

    async def topic(self, name: str, create: bool = False) -> Topic:
        """Raises Refused."""
        return await topic_or_new(name, create, self.session.access, self.broker)

    async def topics(self) -> list[Topic]:
        """All that may be described."""
        everything = await self.broker.catalog.all()
        return await visible(everything, self.session.access, self.broker.work)

    async def partition(self, name: str, number: int) -> Partition:
        """Raises Refused."""
        return partition_in(await self.topic(name), number, -1)


def check(code: int, message: str | None, what: str) -> None:
    """Raises Refused if the code is an error, with the handler's message if it gave one."""
    if code:
        error = ErrorCode(code)
        raise Refused(error, message or f"{what}: {error.name.lower().replace('_', ' ')}")


def _kafka_of(request: Request) -> InProcessClient:
    return InProcessClient(request.app.state.served, request.scope[SESSION])


Asked = Annotated[InProcessClient, Depends(_kafka_of)]
