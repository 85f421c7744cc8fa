"""Topics: names, ids and configs, as the ledger has them.

A topic is cached for a second. If another process deletes it meanwhile, the log notices that by
itself (the head is gone). A name that does not exist is never cached. While the ledger does not
answer, its last answer is used: no process can create or delete a topic then.

With a remote ledger, a topic that is in use is looked up again before its second is over, so that
no request waits for that (prefetch, `look_ahead`).
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import NamedTuple, NoReturn
from uuid import UUID

from samsa.bounded import Bounded
from samsa.log.background import Background
from samsa.log.stores import Stores
from samsa.ports import Partition, Topic, Unavailable
from samsa.wire.errors import ErrorCode

from .configs import Refused, check_configs, check_name
from .internal import OFFSETS, OFFSETS_CONFIGS, OFFSETS_PARTITIONS
from .topic_totals import TopicIndex, Totals

REMEMBER_MS = 1_000
LOOK_AHEAD_MS = 500
"""A topic that is used in this last part of its second is looked up again."""
PATIENCE_S = 2.0
"""A ledger that takes longer counts as down. This is short, as clients ask for topics first."""
MAX_PARTITIONS = 10_000
CHANGES = 10
"""Compare-and-swaps that a change may lose before it gives up."""


COUNT_MS = 60_000
"""How old a count of all topics may be. Topics that this process creates are counted at once."""
MAX_KEPT = 100_000
"""Cached names and ids. Without a limit, topics that other processes deleted would stay for ever.
"""


class CatalogRules(NamedTuple):
    default_partitions: int
    auto_create: bool
    totals: Totals | None = None


class Catalog:
    def __init__(self, stores: Stores, rules: CatalogRules) -> None:
        self._stores = stores
        self._rules = rules
        self._kept = Bounded[str | UUID, tuple[int, Topic]](MAX_KEPT)
        self.on_change: Callable[[Topic], None] = lambda _: None
        """Called with each topic that is created or changed here."""
        self._index = TopicIndex()
        self._indexed_at: int | None = None
        self.refused: Counter[str] = Counter()
        self.look_ahead: Background | None = None
        """Where lookups run ahead of time. None: the first request after a second waits for one."""
        self._looking: set[str | UUID] = set()

    def remembered(self, key: str | UUID) -> Topic | None:
        """The cached topic, by name or by id. If the clock was set back, the entry is not used."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        left_ms = kept[0] - self._stores.clock.now_ms()
        if not 0 < left_ms <= REMEMBER_MS:
            return None
        if left_ms <= LOOK_AHEAD_MS and self.look_ahead is not None and key not in self._looking:
            self._looking.add(key)
            self.look_ahead.start(self._look_again(key))
        return kept[1]

    async def _look_again(self, key: str | UUID) -> None:
        ledger = self._stores.ledger
        asked = ledger.topic(key) if isinstance(key, str) else ledger.topic_by_id(key)
        try:
            await self._look(key, asked)
        finally:
            self._looking.discard(key)

    def last_seen(self, key: str | UUID) -> Topic | None:
        """The topic, however old: for callers that cannot wait for the ledger and that notice later
        if the topic was deleted."""
        kept = self._kept.get(key)
        return kept[1] if kept is not None else None

    async def named(self, name: str) -> Topic | None:
        return self.remembered(name) or await self._look(name, self._stores.ledger.topic(name))

    async def with_id(self, topic_id: UUID) -> Topic | None:
        return self.remembered(topic_id) or await self._look(
            topic_id, self._stores.ledger.topic_by_id(topic_id)
        )

    async def _look(self, key: str | UUID, asked: Awaitable[Topic | None]) -> Topic | None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                topic = await asked
        except (Unavailable, TimeoutError) as error:
            if key not in self._kept:
                raise Unavailable(str(error) or "the ledger is slow") from error
            topic = self._kept[key][1]
        if topic is None:
            self._kept.pop(key, None)
        else:
            self._keep(topic)
        return topic

    def _keep(self, topic: Topic) -> None:
        until = self._stores.clock.now_ms() + REMEMBER_MS
        for key in (topic.name, topic.id):
            self._kept.keep(key, (until, topic))

    def forget(self, topic: Topic) -> None:
        self._kept.pop(topic.name, None)
        self._kept.pop(topic.id, None)

    async def all(self) -> list[Topic]:
        """Raises Unavailable, and never uses the cache: clients take a missing topic as deleted."""
        return await self._stores.ledger.topics()

    async def named_or_created(self, name: str, create: bool, is_new: bool = False) -> Topic:
        """Raises Refused: a bad name, or an unknown one that may not be created. `is_new` if the
        caller knows that there is no such topic."""
        found = None if is_new else await self.named(name)
        if found is not None:
            return found
        check_name(name)
        if not (create and self._rules.auto_create):
            raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}")
        return await self._created(name)

    async def offsets_topic(self) -> Topic:
        """Created if it does not exist, even without auto-creation of other topics.

        Raises Refused, and TimeoutError, as callers can go on without this topic.
        """
        seen = self.last_seen(OFFSETS)
        async with asyncio.timeout(PATIENCE_S):
            return seen or await self.named(OFFSETS) or await self._created(OFFSETS)

    async def _created(self, name: str) -> Topic:
        """Create with the defaults; or return the topic, if another process was faster."""
        own = (OFFSETS_PARTITIONS, OFFSETS_CONFIGS) if name == OFFSETS else (-1, {})
        try:
            return await self.create(name, *own)
        except Refused as refused:
            if refused.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
        return await self.named_or_created(name, create=False)

    async def create(
        self, name: str, partitions: int, configs: dict[str, str], dry_run: bool = False
    ) -> Topic:
        check_name(name)
        check_configs(configs)
        count = self._rules.default_partitions if partitions == -1 else partitions
        check_count(count)
        await self._check_collisions(name)
        await self._check_totals(name, count)
        topic_id = uuid.uuid5(uuid.NAMESPACE_OID, f"{name} {self._stores.nonce()}")
        topic = Topic(name, topic_id, count, self._stores.clock.now_ms(), configs)
        taken = (
            await self._stores.ledger.topic(name) is not None
            if dry_run
            else not await self._stores.ledger.create_topic(topic)
        )
        if taken:
            raise Refused(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        if not dry_run:
            self.on_change(topic)
            self._index.put(topic)
        return topic

    async def _check_collisions(self, name: str) -> None:
        """As Kafka does. Two topics that two processes create within a second may both pass:
        nothing here depends on it."""
        if "." not in name and "_" not in name:
            return
        other = (await self._indexed(REMEMBER_MS)).colliding(name)
        if other is not None:
            raise Refused(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"Topic '{name}' collides with existing topic: {other}",
            )

    async def _check_totals(self, name: str, added: int, is_new: bool = True) -> None:
        most = self._rules.totals
        if most is None:
            return
        index = await self._indexed(COUNT_MS)
        if is_new and name in index:
            return  # there is another reason to refuse it
        if is_new and len(index) >= most.topics:
            self._refuse("topics", f"There are at most {most.topics} topics (--max-topics).")
        if index.partitions + added > most.partitions:
            problem = f"There are at most {most.partitions} partitions in all (--max-partitions)."
            self._refuse("partitions", problem)

    def _refuse(self, limit: str, problem: str) -> NoReturn:
        self.refused[limit] += 1
        raise Refused(ErrorCode.POLICY_VIOLATION, problem)

    async def _indexed(self, max_age_ms: int) -> TopicIndex:
        now = self._stores.clock.now_ms()
        if self._indexed_at is None or not 0 <= now - self._indexed_at < max_age_ms:
            self._index.follow(await self._stores.ledger.topics())
            self._indexed_at = now
        return self._index

    async def change(
        self, name: str, amend: Callable[[Topic], Topic], dry_run: bool = False
    ) -> Topic:
        """Change the topic with `amend`, by compare-and-swap. After a lost race `amend` runs again.

        Raises Refused: there is no such topic, or `amend` refuses it.
        """
        for _ in range(CHANGES):
            old = await self._stores.ledger.topic(name)
            if old is None:
                raise Refused(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
                )
            new = amend(old)
            if new.partitions > old.partitions:
                await self._check_totals(name, new.partitions - old.partitions, is_new=False)
            if dry_run or new == old:
                return new
            self.forget(old)
            if await self._stores.ledger.change_topic(old, new):
                self.on_change(new)
                self._index.put(new)
                return new
        raise Unavailable(f"others keep changing the topic {name!r}")

    async def delete(self, topic: Topic) -> bool:
        self.forget(topic)
        self._index.drop(topic.name)
        return await self._stores.ledger.delete_topic(topic)


def check_count(partitions: int) -> None:
    if partitions < 1:
        problem = "Number of partitions was set to an invalid non-positive value."
    elif partitions > MAX_PARTITIONS:
        problem = f"A topic has at most {MAX_PARTITIONS} partitions, not {partitions}."
    else:
        return
    raise Refused(ErrorCode.INVALID_PARTITIONS, problem)


def partition_of(topic: Topic, number: int) -> Partition | None:
    return Partition(topic.id, number) if 0 <= number < topic.partitions else None
