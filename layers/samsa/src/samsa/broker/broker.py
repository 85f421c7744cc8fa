"""What a handler works with: the broker, and the context of the client's request."""

import asyncio
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from samsa.access.named import NamedClient
from samsa.broker.work import Work, WorkLimits
from samsa.log.core import Log
from samsa.log.stores import Stores
from samsa.log.writer import Appending
from samsa.ports import Groups, Partition, Unavailable
from samsa.security.access import UNLIMITED, Access
from samsa.security.principals import Principal
from samsa.topics.catalog import Catalog, CatalogRules
from samsa.topics.topic_totals import Totals
from samsa.wire.apis import ApiKey

from .budget import Budget
from .nodes import Nodes
from .request_ports import RequestPorts
from .unpacking import Unpacking

if TYPE_CHECKING:
    from samsa.access.view import SecurityView
    from samsa.coordinator.coordinator import Coordinator
    from samsa.coordinator.group_totals import GroupTotals
    from samsa.coordinator.transactions import TransactionCoordinator
    from samsa.groups import GroupSettings
    from samsa.security.throttling import ClientThrottle, Throttling
    from samsa.wire.messages.produce import ProduceRequest
    from samsa.wire.schema import Row

LEADER_EPOCH = 0
LONGEST_S = 20.0
"""The longest wait for an append behind API Gateway, whatever the client's timeout: API Gateway
itself waits for 29 s."""
PRODUCER_IDS = 100
"""Producer ids that are taken from the ledger at once."""
LONG_REQUESTS = 4
"""Requests with thousands of elements that are in memory, with their answers, at the same time."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How this broker answers, where Kafka leaves it to configuration."""

    default_partitions: int = 1
    auto_create_topics: bool = True
    log_retention_hours: int = 168
    """Retention of topics that do not configure their own; -1 for ever."""
    max_fetch_bytes: int = 55 * 1024 * 1024
    work: WorkLimits = field(default_factory=WorkLimits)
    """How much work one request may cause."""
    max_groups: int | None = None
    totals: Totals | None = None
    """How many topics and partitions there may be; None: no limit, and they are not counted."""
    max_acls: int = 10_000
    max_credentials: int = 10_000
    """SCRAM credentials: a user has one for each mechanism."""
    max_quotas: int = 10_000
    """Values, of all entities together."""
    max_answer_memory: int = 256 * 1024 * 1024
    """For the records of all fetches that are being answered from a remote store."""
    groups: "GroupSettings | None" = None
    """None: the defaults of `GroupSettings`."""
    offsets_retention_ms: int = 7 * 24 * 3600 * 1000
    offset_metadata_max_bytes: int = 4096
    transaction_max_timeout_ms: int = 15 * 60 * 1000
    look_at_transactions_ms: int = 1_000
    """How often a reader looks at a transaction that holds it back and has not timed out."""
    transactional_id_expiration_ms: int = 7 * 24 * 3600 * 1000
    connections_max_reauth_ms: int = 0
    """How long a login by SASL is good. Only shown here; `SaslConnection` ends it."""
    schema_registry: bool = True
    """Whether the HTTP API has one."""


class Context(NamedTuple):
    """What a handler knows of one request besides its row."""

    version: int
    client_id: str | None
    address: tuple[str, int]
    """The address at which the client reached this process; answers name this process by it."""
    client_host: str = ""
    """The client's own address, as Kafka shows it: a slash and the address."""
    asks_all: bool = False
    """Whether the client asks only this process, so the answer must cover all processes."""
    access: Access = UNLIMITED
    """The principal of the client, and its rights."""
    ports: RequestPorts | None = None
    """None: the ports of the process (`Broker.ports_of`)."""
    throttle: "ClientThrottle | None" = None
    """None: no quotas are enforced. A handler that throttles says so in its answer's
    `throttle_time_ms`, and the server mutes the connection for as long."""


@dataclass(slots=True)
class Broker:
    stores: Stores
    cluster_id: str
    """Empty before `find_cluster_id`: a Lambda function does not need it for most requests."""
    rules: Rules = field(default_factory=Rules)
    log: Log = field(init=False)
    catalog: Catalog = field(init=False)
    answer_memory: Budget = field(init=False)
    work: Work = field(init=False)
    unpacking: Unpacking = field(init=False)
    long_requests: Budget = field(init=False)
    producer_ids: range = range(0)
    """Producer ids that were taken from the ledger and not given out yet."""
    groups: Groups | None = None
    nodes: Nodes = field(default_factory=Nodes.alone)
    """The cluster as it was last seen. Asking it costs no call to a store."""
    access: "SecurityView | None" = None
    """ACLs, credentials and quotas; None: security is off."""
    _stored_access: "SecurityView | None" = field(init=False, default=None)
    throttling: "Throttling | None" = None
    """None: there are no quotas, or this process does not enforce them."""
    works_after_answers: bool = False
    """Whether it may finish work after an answer, as a process can and a function cannot."""
    _coordinator: "Coordinator | None" = field(init=False, default=None)
    _group_totals: "GroupTotals | None" = field(init=False, default=None)
    _transactions: "TransactionCoordinator | None" = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.log = Log(self.stores)
        self.answer_memory = Budget(self.rules.max_answer_memory)
        self.work = Work(self.rules.work)
        self.unpacking = Unpacking(self.work)
        self.log.times.do = self.unpacking.do
        self.long_requests = Budget(LONG_REQUESTS)
        self.catalog = Catalog(
            self.stores,
            CatalogRules(
                self.rules.default_partitions, self.rules.auto_create_topics, self.rules.totals
            ),
        )

    def access_for(self, principal: Principal, host: str) -> Access:
        """What this principal may do, from this address (without a slash or a port)."""
        if self.access is None:
            return NamedClient(principal)
        return self.access.access_for(principal, host)

    @property
    def stored_access(self) -> "SecurityView":
        """For admins, who may set credentials and quotas before security is turned on. Imported
        with their first request."""
        if self.access is not None:
            return self.access
        if self._stored_access is None:
            from samsa.access.view import SecurityView

            if self.groups is None:
                raise Unavailable("this broker has no store for credentials and quotas")
            self._stored_access = SecurityView(self.groups, self.stores.clock, self.stores.nonce)
        return self._stored_access

    @property
    def coordinator(self) -> "Coordinator":
        if self._coordinator is None:
            self._coordinator = self._make_coordinator()
        return self._coordinator

    @property
    def group_totals(self) -> "GroupTotals":
        if self._group_totals is None:
            from samsa.coordinator.group_totals import GroupTotals

            if self.groups is None:
                raise Unavailable("this broker has no store for groups")
            self._group_totals = GroupTotals(self.groups, self.stores.clock, self.rules.max_groups)
        return self._group_totals

    @property
    def refused(self) -> Counter[str]:
        """How many requests were refused, by the limit that refused them."""
        groups = self._group_totals.refused if self._group_totals is not None else 0
        return self.work.refused + self.catalog.refused + Counter(groups=groups)

    @property
    def group_settings(self) -> "GroupSettings":
        from samsa.groups import GroupSettings

        return self.rules.groups or GroupSettings()

    def _make_coordinator(self) -> "Coordinator":
        """Imported with the first request of a group: the coordinator is a fifth of all code."""
        from samsa.coordinator.coordinator import Coordinator
        from samsa.topics.known_topics import KnownTopics

        if self.groups is None:
            raise Unavailable("this broker has no store for groups")
        topics = KnownTopics(self.catalog.all, self.work)
        return Coordinator(self.stores, self.groups, self.group_settings, topics)

    @property
    def transactions(self) -> "TransactionCoordinator":
        """Imported with the first request of a transaction."""
        if self._transactions is None:
            from samsa.coordinator.transactions import TransactionCoordinator
            from samsa.transactions import Settings

            if self.groups is None:
                raise Unavailable("this broker has no store for transactions")
            self._transactions = TransactionCoordinator(
                self.stores,
                self.groups,
                self.log,
                Settings(self.rules.transaction_max_timeout_ms),
                self.next_producer_id,
                self.rules.look_at_transactions_ms,
                self.works_after_answers,
            )
        return self._transactions

    @property
    def has_transactions(self) -> bool:
        """Whether a client of this process has used transactions."""
        return self._transactions is not None

    def is_in_transaction(self, producer_id: int, partition: Partition) -> bool:
        """Whether a producer has that partition in a transaction, as far as this process knows."""
        known = self._transactions
        return known is not None and known.has_ongoing(producer_id, partition)

    @property
    def transaction_figures(self) -> tuple[int, int, int]:
        """Transactions that are open, the age of the oldest (ms), and how many this process
        aborted because their time was up."""
        if self._transactions is None:
            return 0, 0, 0
        return *self._transactions.figures(), self._transactions.aborted

    def ports_of(self, context: Context) -> RequestPorts:
        stores = self.stores
        return context.ports or RequestPorts(
            stores.clock, stores.wakeups, stores.nonce, stores.objects, self.log.watches.ensure
        )

    async def next_producer_id(self) -> int:
        """One that was never used. Taken from the ledger in blocks."""
        if not self.producer_ids:
            first = await self.stores.ledger.next_producer_ids(PRODUCER_IDS)
            self.producer_ids = range(first, first + PRODUCER_IDS)
        producer_id, self.producer_ids = self.producer_ids[0], self.producer_ids[1:]
        return producer_id

    @property
    def group_refusals(self) -> int:
        """Requests that a group had no room for."""
        return self._coordinator.refused if self._coordinator is not None else 0

    async def find_cluster_id(self) -> str:
        """The first process that asks the ledger proposes the id; it is the same for all after."""
        if not self.cluster_id:
            digest = blake2b(self.stores.nonce().encode(), digest_size=16).digest()
            proposed = urlsafe_b64encode(digest).decode().rstrip("=")
            self.cluster_id = await self.stores.ledger.cluster_id(proposed)
        return self.cluster_id

    async def background_done(self) -> None:
        """Wait for all background work that requests started and did not wait for."""
        await self.finish_transactions()
        await self.log.background_done()
        if self._coordinator is not None:
            await self._coordinator.drain()

    async def finish_transactions(self) -> None:
        """Wait until those are complete whose end was answered after the decision."""
        if self._transactions is not None:
            await self._transactions.drain()


class Later:
    """An answer that is under way. Its appends already have their order in the log, so the
    connection may read its next request. The answer is built when all of `under_way` is done or the
    timeout is over. The request's memory is in use until all of `under_way` is done."""

    __slots__ = ("alone", "throttle_ms", "timeout_s", "under_way")

    def __init__(
        self,
        under_way: Sequence[Appending],
        timeout_s: float | None,
        alone: "ProduceRequest | None" = None,
    ) -> None:
        self.under_way = under_way
        self.timeout_s = timeout_s
        self.alone = alone
        """The request's row, if it is for one partition: later requests may be of its kind."""
        self.throttle_ms = 0
        """For the answer, if the client is over a quota."""

    def build(self) -> "Row | None":
        """A row; None if the client does not want an answer."""
        raise NotImplementedError

    def body(self) -> bytes | None:
        """The encoded row, if there is a fast path that makes it; else None."""
        return None

    async def ended(self) -> "Row | None":
        """Wait until all is done or the timeout is over, then return the row. For callers that
        serve one request at a time, behind API Gateway."""
        if self.under_way:
            timeout_s = min(self.timeout_s or LONGEST_S, LONGEST_S)
            await asyncio.wait(self.under_way, timeout=timeout_s)
        return self.build()


class Held(NamedTuple):
    """An answer that holds memory until it has been sent."""

    row: "Row"
    release: Callable[[], None]


Answer: TypeAlias = "Row | Later | Held | None"
"""A response row; None for no response at all; Later; or Held."""
Handler: TypeAlias = Callable[[Any, Context, Broker], Coroutine[Any, Any, Answer]]


class Handlers(dict[int, Handler]):
    """Handlers by API key. Each is imported, and registers itself, when its first request comes:
    a cold start imports only one or two."""

    def __missing__(self, key: int) -> Handler:
        import_module(f"samsa.handlers.k{key:02d}_{ApiKey(key).name.lower()}")
        found = self.get(key)
        assert found is not None, f"{ApiKey(key).name} has a module that registers nothing"
        return found


HANDLERS = Handlers()


def handles(key: ApiKey) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        HANDLERS[key] = handler
        return handler

    return register
