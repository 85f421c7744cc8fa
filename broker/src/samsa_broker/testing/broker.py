"""A broker for one test, as the test sees it.

All methods may be called from any thread, also from a coroutine: the broker runs elsewhere, and
answers within milliseconds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .cluster_settings import HOST, ClusterSettings, settings_of
from .fault_controls import Faults
from .hosts import Host, Mode, open_host
from .record import Headers, Record, Text, as_bytes, as_headers
from .waiting import wait_until


class SamsaBroker:
    """A cluster of one broker, with nothing in it at first."""

    def __init__(self, host: Host, settings: ClusterSettings | None = None) -> None:
        self._host = host
        self._number, self.port = host.open(settings or ClusterSettings())
        self.host = HOST
        self.faults = Faults(self)

    @property
    def bootstrap_servers(self) -> str:
        """For a client's setting of that name."""
        return f"{self.host}:{self.port}"

    def call(self, name: str, *arguments: Any, **how: Any) -> Any:
        """For the other classes of this package."""
        return self._host.call(self._number, name, arguments, how)

    # Topics and records

    def create_topic(self, name: str, partitions: int = 1, **configs: object) -> str:
        """`configs` have Kafka's names with underscores: `retention_ms=1000`,
        `cleanup_policy="compact"`. Returns the name. Raises SamsaError."""
        named = {key.replace("_", "."): _config(value) for key, value in configs.items()}
        self.call("create_topic", name, partitions, named)
        return name

    def delete_topic(self, name: str) -> None:
        self.call("delete_topic", name)

    def topics(self) -> dict[str, int]:
        """How many partitions each topic has."""
        found: dict[str, int] = self.call("topics")
        return found

    def produce(
        self,
        topic: str,
        *values: Text,
        key: Text = None,
        partition: int = 0,
        headers: Headers = (),
        timestamp: int | None = None,
    ) -> list[Record]:
        """Write a record for each value, in one batch. They are stored when it returns, with the
        offsets that it returns. A topic that does not exist is created, as for a client. Raises
        SamsaError."""
        more = as_bytes(key), as_headers(headers), timestamp
        drafts = [(more[0], as_bytes(value), more[1], more[2]) for value in values]
        found: list[Record] = self.call("write", topic, partition, drafts) if drafts else []
        return found

    def records(
        self,
        topic: str,
        *,
        partition: int | None = None,
        at_least: int = 0,
        timeout: float = 10.0,
        committed: bool = True,
    ) -> list[Record]:
        """All records, partition after partition, by offset. `at_least`: wait until there are so
        many. `committed=False`: also those of transactions that are open or aborted. Raises
        SamsaError: there is no such topic, or the time is up."""
        found: list[Record] = []

        def is_enough() -> bool:
            if at_least and topic not in self.topics():
                return False
            found[:] = self.call("read", topic, partition, committed)
            return len(found) >= at_least

        wait_until(is_enough, timeout, lambda: f"{topic} has {len(found)} of {at_least} records")
        return found

    # Groups

    def groups(self) -> dict[str, str]:
        """The state of each consumer group: Empty, PreparingRebalance, CompletingRebalance, Stable,
        or one of the consumer protocol's."""
        found: dict[str, str] = self.call("groups")
        return found

    def wait_for_group(self, group: str, state: str = "Stable", timeout: float = 10.0) -> None:
        """Raises SamsaError when the time is up."""
        wait_until(
            lambda: self.groups().get(group) == state,
            timeout,
            lambda: f"group {group!r} is {self.groups().get(group, 'not there')}, not {state}",
        )

    def group_offsets(self, group: str) -> dict[tuple[str, int], int]:
        """The committed offset of each topic and partition."""
        found: dict[tuple[str, int], int] = self.call("group_offsets", group)
        return found

    # Its life

    def stop(self) -> None:
        """Stop listening: connections end, and new ones are refused. Everything is kept."""
        self.call("stop")

    def start(self) -> None:
        """Start again, on the same port."""
        self.call("start")

    def close(self) -> None:
        """The end. The connections of clients that are still open end, too."""
        self._host.close_cluster(self._number)

    def __repr__(self) -> str:
        return f"<SamsaBroker {self.bootstrap_servers}>"


def _config(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def a_broker(mode: Mode = "thread", **settings: Any) -> Iterator[SamsaBroker]:
    """A broker for as long as the block runs, without pytest. `settings` are those of
    `ClusterSettings`."""
    wanted, host = settings_of(**settings), open_host(mode)
    try:
        yield SamsaBroker(host, wanted)
    finally:
        host.close()


def a_fresh_broker(host: Host, **settings: Any) -> Iterator[SamsaBroker]:
    """For fixtures."""
    broker = SamsaBroker(host, settings_of(**settings))
    try:
        yield broker
    finally:
        broker.close()
