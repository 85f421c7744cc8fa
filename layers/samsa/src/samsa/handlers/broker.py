"""What a handler works with: the broker, and what is known of the client that asks."""

from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from samsa.log.core import Log
from samsa.log.stores import Stores
from samsa.log.writer import Appending
from samsa.ports import Groups, Unavailable
from samsa.wire.apis import ApiKey
from samsa.work import Work, WorkLimits

from .budget import Budget
from .catalog import Catalog, CatalogRules
from .nodes import Nodes
from .topic_totals import Totals
from .unpacking import Unpacking

if TYPE_CHECKING:
    from samsa.groups import Settings

    from .coordinator import Coordinator
    from .group_totals import GroupTotals

LEADER_EPOCH = 0
LONG_REQUESTS = 4
"""Those of thousands of elements: as many are in memory, with their answers, at a time."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How this broker answers, where Kafka leaves it to configuration."""

    default_partitions: int = 1
    auto_create_topics: bool = True
    log_retention_hours: int = 168
    """How long a topic keeps a record that says nothing of it itself; -1 for ever."""
    max_fetch_bytes: int = 55 * 1024 * 1024
    work: WorkLimits = field(default_factory=WorkLimits)
    """What one request may make the broker do."""
    max_groups: int | None = None
    totals: Totals | None = None
    """How many topics and partitions there may be; None for any number, and then none are counted.
    """
    max_answer_memory: int = 256 * 1024 * 1024
    """For the records of all fetches that are being answered from a store that is far away."""
    groups: "Settings | None" = None
    """None for its defaults."""
    offsets_retention_ms: int = 7 * 24 * 3600 * 1000
    offset_metadata_max_bytes: int = 4096


class Context(NamedTuple):
    """One request's surroundings."""

    version: int
    client_id: str | None
    address: tuple[str, int]
    """Where the client reached us, and so where it is told to come back."""
    client_host: str = ""
    """Where it comes from, as Kafka shows it: a slash and the address."""
    asks_all: bool = False
    """Whether it asks no other process, and so wants to know what all of them would say."""


@dataclass(slots=True)
class Broker:
    stores: Stores
    cluster_id: str
    rules: Rules = field(default_factory=Rules)
    log: Log = field(init=False)
    catalog: Catalog = field(init=False)
    answer_memory: Budget = field(init=False)
    work: Work = field(init=False)
    unpacking: Unpacking = field(init=False)
    long_requests: Budget = field(init=False)
    producer_ids: range = range(0)
    """Ids that were taken from the ledger and not given out yet."""
    groups: Groups | None = None
    nodes: Nodes = field(default_factory=Nodes.alone)
    """The cluster as it was last seen. Asking it costs no call to a store."""
    _coordinator: "Coordinator | None" = field(init=False, default=None)
    _group_totals: "GroupTotals | None" = field(init=False, default=None)

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

    @property
    def coordinator(self) -> "Coordinator":
        if self._coordinator is None:
            self._coordinator = self._make_coordinator()
        return self._coordinator

    @property
    def group_totals(self) -> "GroupTotals":
        if self._group_totals is None:
            from .group_totals import GroupTotals

            if self.groups is None:
                raise Unavailable("this broker has no store for groups")
            self._group_totals = GroupTotals(self.groups, self.stores.clock, self.rules.max_groups)
        return self._group_totals

    @property
    def refused(self) -> Counter[str]:
        """How often a limit was in the way, by the limit."""
        groups = self._group_totals.refused if self._group_totals is not None else 0
        return self.work.refused + self.catalog.refused + Counter(groups=groups)

    @property
    def group_settings(self) -> "Settings":
        from samsa.groups import Settings

        return self.rules.groups or Settings()

    def _make_coordinator(self) -> "Coordinator":
        """Imported with the first request of a group: the coordinator is a fifth of all code."""
        from .coordinator import Coordinator
        from .known_topics import KnownTopics

        if self.groups is None:
            raise Unavailable("this broker has no store for groups")
        topics = KnownTopics(self.catalog.all, self.work)
        return Coordinator(self.stores, self.groups, self.group_settings, topics)

    @property
    def group_refusals(self) -> int:
        """Requests that a group had no room for."""
        return self._coordinator.refused if self._coordinator is not None else 0

    async def background_done(self) -> None:
        """Until nothing is left that a request began and did not wait for."""
        await self.log.background_done()
        if self._coordinator is not None:
            await self._coordinator.drain()


class Later:
    """An answer that is under way: what it does to the log is ordered already, so the connection
    may take its next request. It is built once all of `under_way` is done or the time is up; the
    request's memory is in use until all of it is done."""

    __slots__ = ("alone", "timeout_s", "under_way")

    def __init__(
        self, under_way: Sequence[Appending], timeout_s: float | None, alone: Any = None
    ) -> None:
        self.under_way = under_way
        self.timeout_s = timeout_s
        self.alone = alone
        """The request's row, if it is for one partition: the next may be like it."""

    def build(self) -> Any:
        """A row; None if the client does not want an answer."""
        raise NotImplementedError

    def body(self) -> bytes | None:
        """What the row would be encoded to, if there is a shorter way to that."""
        return None


class Held(NamedTuple):
    """An answer that holds memory until it has been sent."""

    row: Any
    release: Callable[[], None]


Answer: TypeAlias = Any
"""A response row; None for no response at all; Later; or Held."""
Handler: TypeAlias = Callable[[Any, Context, Broker], Coroutine[Any, Any, Answer]]


class Handlers(dict[int, Handler]):
    """By API key. Each is imported, and registers itself, when it is first asked for: a cold start
    pays for one or two."""

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
