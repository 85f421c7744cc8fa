"""Announces this process to the others of its cluster, and finds out which others live.

Every process has an item in the ledger: its node id, the address that clients are given, its zone.
The item is made before the process says that it listens, renewed every few seconds, and removed
when the process is told to stop. Each renewal reads all items first. The living nodes are put into
`broker.nodes`, so that no request asks the ledger. While the ledger does not answer, the last list
stays.

The id is the lowest that is free, or whose process has gone. An address has one id: a process that
is restarted at its old address gets its old id, and processes that are all advertised at one
address (of a load balancer) share an id, and so are one node.

On a SQLite file nothing is renewed while there is no other process, and nothing is even read while
this process is alone with it (`local/ownership.py`): then no other process can see the item either.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from samsa.broker.broker import Broker
from samsa.broker.nodes import Nodes
from samsa.ports import Node, Unavailable, has_passed
from samsa.ports.bounds import LONGEST_HOST, LONGEST_ZONE, MOST_NODES
from samsa.runtime.logs import Repeated, event

from .announced_address import AnnouncedAddress
from .roster import LONG_GONE_MS, RENEW_S, Roster

log = logging.getLogger("samsa.server")
SOON_S = 0.5
"""Between the first looks, and while alone: a new process has to be seen soon."""
SOON_LOOKS = 10
PATIENCE_S = 2.0
"""For one call. A ledger that takes longer is asked again by the next renewal."""
CLAIMS = 5
"""Tries to take an id, if others take theirs at the same time."""
T = TypeVar("T")


class Announcer:
    def __init__(
        self,
        broker: Broker,
        place: AnnouncedAddress,
        zone: str,
        *,
        is_remote: bool,
        is_alone: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_remote`: other machines may use the ledger too."""
        self._broker = broker
        self._ledger = broker.stores.ledger
        self._place = place
        self._zone = zone
        self._owner = broker.stores.nonce()
        self._is_remote = is_remote
        self._is_alone = is_alone
        self._roster = Roster()
        self._own: Node | None = None
        self._task: asyncio.Task[None] | None = None
        self._told: object = None
        self._silence = Repeated(log, logging.WARNING, "the cluster cannot be looked at")
        self._full = Repeated(log, logging.WARNING, "more processes than can be named to clients")
        self.failures = 0
        """Looks and renewals that the ledger did not answer, or that failed."""

    async def start(self, is_first: bool = False) -> None:
        """`is_first`: no other process has the ledger open, so all items are of dead processes."""
        await self._safely(self._begin(is_first))
        self._task = asyncio.create_task(self._renew_for_ever())

    async def _begin(self, is_first: bool) -> None:
        if is_first:
            for node in await _asked(self._ledger.nodes()):
                await _asked(self._ledger.remove_node(node))
        await self.look()

    async def _renew_for_ever(self) -> None:
        looks = 0
        while True:
            await asyncio.sleep(SOON_S if looks < SOON_LOOKS else RENEW_S)
            if self._is_alone():
                looks = 0
                continue
            looks += 1
            await self._safely(self.look())

    async def _safely(self, work: Awaitable[None]) -> None:
        """Only log what fails here: requests are served anyway, and the next look may succeed."""
        try:
            await work
        except (Unavailable, TimeoutError) as error:
            self._failed(str(error) or f"no answer within {PATIENCE_S:.0f} s")
        except Exception as error:
            self._failed(repr(error))
            log.debug("a look at the cluster failed", exc_info=error)

    def _failed(self, why: str) -> None:
        self.failures += 1
        self._silence.happened(why=why)

    async def look(self) -> None:
        """Read all items, renew this process's, and publish what has changed. Raises Unavailable
        and TimeoutError."""
        for _ in range(CLAIMS):
            found = await self._seen()
            try:
                is_done = await self._renewed(found)
            except Exception:
                await self._publish()  # what was seen holds, though nothing could be written
                raise
            if is_done:
                break
        await self._publish()

    async def _seen(self) -> Sequence[Node]:
        try:
            found = await _asked(self._ledger.nodes())
        except Exception:
            self._roster.miss()
            raise
        self._roster.see(found, self._now_ms(), self._now_s())
        return found

    # This process's item

    async def _renewed(self, found: Sequence[Node]) -> bool:
        """False if another process was faster, and all items have to be read again."""
        there = {node.id: node for node in found}
        before = there.get(self._own.id) if self._own is not None else None
        if self._own is None or (before is not None and before.place != self._place):
            return await self._claimed(there)  # or: not renewed for long, and its id was taken
        if before is not None and before.owner == self._owner and not self._is_watched(found):
            return True
        return await self._put(self._own.id, before)

    def _is_watched(self, found: Sequence[Node]) -> bool:
        """Whether another process may see a renewal. On a remote ledger one may always come."""
        if self._is_remote:
            return True
        now_s, others = self._now_s(), (node for node in found if node.owner != self._owner)
        return any(not self._roster.has_gone(node, now_s) for node in others)

    async def _claimed(self, there: dict[int, Node]) -> bool:
        self._own = None
        if len(self._place.host) > LONGEST_HOST or len(self._zone) > LONGEST_ZONE:
            return True
        for node in there.values():
            if node.place == self._place:
                return await self._put(node.id, node)
        for node_id in range(MOST_NODES):
            before = there.get(node_id)
            if before is None or self._may_replace(before):
                return await self._put(node_id, before)
        self._full.happened(at_most=MOST_NODES)
        return True

    def _may_replace(self, node: Node) -> bool:
        """`renewed_at` counts on a remote ledger only: on a SQLite file a process that was alone
        has not renewed for long, and yet it lives."""
        if self._roster.has_gone(node, self._now_s()):
            return True
        is_old = has_passed(self._now_ms(), node.renewed_at, LONG_GONE_MS)
        return self._is_remote and is_old and not self._roster.is_alive(node, self._now_s())

    async def _put(self, node_id: int, before: Node | None) -> bool:
        version = before.version + 1 if before is not None else 1
        host, port, machine = self._place
        now_ms = self._now_ms()
        node = Node(node_id, self._owner, version, host, port, self._zone, machine, now_ms)
        if not await _asked(self._ledger.put_node(node, before)):
            return False
        self._own = node
        self._roster.note(node, self._now_s())
        return True

    # What requests are told

    async def _publish(self) -> None:
        nodes, own = self._named()
        told = ([(*node.place, node.id, node.zone) for node in nodes], own)
        if told == self._told:
            return
        is_news = len(nodes) > 1 or self._told is not None
        self._broker.nodes = (
            await asyncio.to_thread(Nodes, nodes, own) if len(nodes) > 1 else Nodes(nodes, own)
        )
        self._told = told
        ids = ",".join(str(node.id) for node in nodes)
        event(log, logging.INFO if is_news else logging.DEBUG, "nodes", ids=ids, own=own)

    def _named(self) -> tuple[list[Node], int | None]:
        """The nodes that live and can be reached, one for each address; and the id of this one."""
        alive = {node.id: node for node in self._roster.alive(self._now_s())}
        if self._own is not None:
            alive[self._own.id] = self._own
        by_place: dict[AnnouncedAddress, Node] = {}
        for _, node in sorted(alive.items()):
            if node.machine in ("", self._place.machine):
                by_place.setdefault(AnnouncedAddress(*node.place), node)
        own = by_place.get(self._place) if self._own is not None else None
        return list(by_place.values()), own.id if own is not None else None

    async def leave(self) -> None:
        """Remove the item: from their next look on, the others send no more clients here."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._own is not None:
            await self._safely(_asked(self._ledger.remove_node(self._own)))

    def _now_ms(self) -> int:
        return self._broker.stores.clock.now_ms()

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()


async def _asked(call: Awaitable[T]) -> T:
    async with asyncio.timeout(PATIENCE_S):
        return await call
