"""What routes ask: a Kafka client with the rights of one HTTP request.

`InProcessClient` asks the broker in its own process, without the wire. `samsa console` asks a
cluster by TCP (`samsa_broker/console/remote.py`). Routes are written once, for both.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol

from fastapi import Depends, Request

from samsa.broker.answer_rows import row_of
from samsa.broker.broker import HANDLERS, Broker, Context
from samsa.broker.unpacking import Unpacking
from samsa.broker.work import Work
from samsa.ports import Missing, Partition, Topic, Unavailable
from samsa.topics.configs import Refused
from samsa.topics.permitted import visible
from samsa.topics.resolve import partition_in, topic_or_new
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode

from .sessions import SESSION, Session

if TYPE_CHECKING:
    from .registry.service import Registry

CLIENT_ID = "samsa-http"
NEWEST = 1_000
MOST_WAITING = 50
NOBODY = "no such thing"
"""Neither a topic's name nor an object's has spaces."""
PATIENCE_S = 5.0


class Bounds(NamedTuple):
    start: int
    """The first offset that can be read."""
    end: int
    """The offset after the last."""
    stable_end: int
    """The last stable offset: where a reader of committed records stops."""


class ClusterRules(NamedTuple):
    cluster_id: str
    default_partitions: int
    auto_create_topics: bool
    node: int
    """The node whose configs are shown."""


class KafkaClient(ABC):
    """One HTTP request, with the rights of its sender."""

    session: Session
    work: Work
    unpacking: Unpacking
    waiting: Callable[[int], AbstractContextManager[int]]
    """How long a read may wait for records."""
    address: tuple[str, int] | None
    """The address for Kafka clients, if this process has one."""

    @abstractmethod
    def answered(
        self, key: ApiKey, row: Any, at_most: int = NEWEST
    ) -> AbstractAsyncContextManager[Any]:
        """The answer. Its memory counts as in use until the block ends."""

    async def ask(self, key: ApiKey, row: Any, at_most: int = NEWEST) -> Any:
        async with self.answered(key, row, at_most) as answer:
            return answer

    @abstractmethod
    async def topic(self, name: str, create: bool = False) -> Topic:
        """Raises Refused."""

    @abstractmethod
    async def topics(self) -> list[Topic]:
        """All that may be described."""

    async def partition(self, name: str, number: int) -> Partition:
        """Raises Refused."""
        return partition_in(await self.topic(name), number, -1)

    @abstractmethod
    async def bounds(self, topic: Topic, numbers: Sequence[int]) -> dict[int, Bounds]:
        """Where these partitions begin and end. The topic may be described. Raises Refused,
        UnknownPartition."""

    @abstractmethod
    async def sizes(self, topic: Topic, numbers: Sequence[int]) -> dict[int, int]:
        """Bytes of these partitions' batches."""

    @abstractmethod
    async def check_health(self) -> None:
        """Ask what is behind this something just now. Raises Unavailable, which says what has no
        answer."""

    @abstractmethod
    async def rules(self) -> ClusterRules: ...

    @abstractmethod
    def now_ms(self) -> int: ...

    @abstractmethod
    def nonce(self) -> str: ...


class Waits:
    """Reads that wait for records. If many wait already, another one does not wait: each keeps one
    of a hundred connections."""

    def __init__(self, may_wait: bool = True) -> None:
        self.may_wait = may_wait
        """False in a function, because waiting costs money there."""
        self._waiting = 0

    @contextmanager
    def waiting(self, wait_ms: int) -> Iterator[int]:
        allowed = wait_ms if self.may_wait and self._waiting < MOST_WAITING else 0
        self._waiting += allowed > 0
        try:
            yield allowed
        finally:
            self._waiting -= allowed > 0


class Served(Protocol):
    """What all HTTP clients of one application share."""

    @property
    def work(self) -> Work: ...

    def client(self, session: Session) -> KafkaClient: ...


class ServedBroker(Waits):
    """The broker in this process."""

    def __init__(
        self, broker: Broker, address: tuple[str, int] | None = None, may_wait: bool = True
    ) -> None:
        super().__init__(may_wait)
        self.broker = broker
        self.address = address
        self.registry: Registry | None = None
        """Made with the first request for it."""

    @property
    def work(self) -> Work:
        return self.broker.work

    def client(self, session: Session) -> "InProcessClient":
        return InProcessClient(self, session)


class InProcessClient(KafkaClient):
    def __init__(self, served: ServedBroker, session: Session) -> None:
        self.served = served
        self.broker = served.broker
        self.work = served.broker.work
        self.unpacking = served.broker.unpacking
        self.address = served.address
        self.waiting = served.waiting
        self.session = session

    @asynccontextmanager
    async def answered(self, key: ApiKey, row: Any, at_most: int = NEWEST) -> AsyncIterator[Any]:
        version = min(APIS[key].versions[-1], at_most)
        address = self.address or ("", 0)
        access, host, on_answer = self.session
        context = Context(version, CLIENT_ID, address, host, asks_all=True, access=access)
        async with row_of(await HANDLERS[key](row, context, self.broker)) as answer:
            if on_answer is not None:
                on_answer(key, row, answer)
            yield answer

    async def topic(self, name: str, create: bool = False) -> Topic:
        return await topic_or_new(name, create, self.session.access, self.broker)

    async def topics(self) -> list[Topic]:
        everything = await self.broker.catalog.all()
        return await visible(everything, self.session.access, self.work)

    async def bounds(self, topic: Topic, numbers: Sequence[int]) -> dict[int, Bounds]:
        async def find(number: int) -> Bounds:
            head = await self.broker.log.head(Partition(topic.id, number))
            return Bounds(head.log_start, head.next_offset, head.stable_end)

        found = await self.work.some_at_once(numbers, find)
        return dict(zip(numbers, found, strict=True))

    async def sizes(self, topic: Topic, numbers: Sequence[int]) -> dict[int, int]:
        async def count(number: int) -> int:
            return await self.broker.log.retainer.size(Partition(topic.id, number))

        found = await self.work.some_at_once(numbers, count)
        return dict(zip(numbers, found, strict=True))

    async def check_health(self) -> None:
        stores = self.broker.stores
        await asyncio.gather(
            _answers("ledger", stores.ledger.topic(NOBODY)),
            _answers("objects", stores.objects.get(f"log/{NOBODY}")),
        )

    async def rules(self) -> ClusterRules:
        rules, nodes = self.broker.rules, self.broker.nodes
        return ClusterRules(
            await self.broker.find_cluster_id(),
            rules.default_partitions,
            rules.auto_create_topics,
            nodes.controller if nodes.own is None else nodes.own,
        )

    def now_ms(self) -> int:
        return self.broker.stores.clock.now_ms()

    def nonce(self) -> str:
        return self.broker.stores.nonce()


async def _answers(store: str, asked: Awaitable[Any]) -> None:
    try:
        async with asyncio.timeout(PATIENCE_S):
            with suppress(Missing):
                await asked
    except (Unavailable, TimeoutError) as error:
        why = str(error) or f"no answer within {PATIENCE_S:.0f} s"
        raise Unavailable(f"{store}: {why}") from error


def check(code: int, message: str | None, what: str) -> None:
    """Raises Refused if the code is an error, with the handler's message if it gave one."""
    if code:
        error = ErrorCode(code)
        raise Refused(error, message or f"{what}: {error.name.lower().replace('_', ' ')}")


def _kafka_of(request: Request) -> KafkaClient:
    served: Served = request.app.state.served
    return served.client(request.scope[SESSION])


Asked = Annotated[KafkaClient, Depends(_kafka_of)]
