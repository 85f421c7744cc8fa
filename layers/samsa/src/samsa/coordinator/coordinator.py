"""The coordinator's shell: it loads a group, calls the pure step, stores the outcome by
compare-and-swap, wakes requests that can be answered, and parks requests that must wait.

Any process may serve any group. In one process the requests of a group take turns (`group_queue`),
so only processes race; the loser steps again on the state that the winner stored. An answer is sent
only after the state that it reports is stored. A group is kept in memory as it was last stored, and
read again only if its version has changed. Every step asks for the version, so that it sees the
writes of other processes, unless the store knows that this process is alone. A step that changes
nothing writes nothing. Most heartbeats are such steps: they are noted here, and written with the
next step that must write.

A parked request looks again when it is woken, when something in the group is due, and at least
every 5 seconds: a lost wake-up costs only that delay. If its client disconnects, the request is
dropped. Its member stays until its session ends, like any silent member. But if the client never
learned the member's id, it cannot come back under that id: then the member leaves at once.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from itertools import chain
from uuid import UUID
from zlib import crc32

from samsa.groups import (
    Answer,
    ClassicGroup,
    ConsumerGroup,
    ConsumerHeartbeat,
    CorruptGroup,
    Group,
    GroupError,
    GroupSettings,
    GroupTooLarge,
    Heartbeat,
    Join,
    Leave,
    Leaving,
    MemberHeartbeats,
    Parked,
    Request,
    Steps,
    Sync,
    TopicInfo,
    answer_heartbeat,
    expire,
    fits,
    patterns_of,
    quieted,
    refusal,
    step,
    steps,
    unpack,
    why_unfit,
)
from samsa.groups.requests import Matches, asker, fresh_id
from samsa.log.background import Background
from samsa.log.stores import Stores
from samsa.ports import GroupItem, GroupKey, Groups, Misconfigured, Unavailable, Waiting
from samsa.topics.known_topics import KnownTopics

from .group_queue import GroupQueue, GroupQueues

log = logging.getLogger("samsa.groups")
LONGEST_WAIT_MS = 5_000
"""The longest time between two looks of a parked request."""
FULL = GroupError.GROUP_MAX_SIZE_REACHED
SAY_EVERY_MS = 1_000
MANY = 500
"""This many partitions and topics take a millisecond or more to assign."""
TRIES = 50
"""Lost races before a client is told to retry. In each lost race another process made progress."""


class Coordinator:
    def __init__(
        self, stores: Stores, groups: Groups, settings: GroupSettings, topics: KnownTopics
    ) -> None:
        self.groups = groups
        self.settings = settings
        self._stores = stores
        self._topics = topics
        self._queues = GroupQueues()
        self._background = Background()
        self._process = stores.nonce()[:12] if settings.exact_sessions else ""
        """The name of this process in groups: see `samsa.groups.heartbeat_coalescing`."""
        self.refused = 0
        """Requests that were refused because a group has too many members or bytes."""
        self._said_at = 0

    def ticket(self, group_id: str, nonce: Callable[[], str] | None = None) -> str:
        word = f"{group_id} {(nonce or self._stores.nonce)()}".encode()
        return str(UUID(bytes=blake2b(word, digest_size=16).digest()))

    async def ask(self, group_id: str, request: Request, wakeups: Waiting | None = None) -> Answer:
        """Wait for the answer, with no time limit. `wakeups`: how the request waits, if not like
        all requests of this process. Raises Unavailable; CannotWait if `wakeups` does."""
        if isinstance(request, Heartbeat):
            return self._beaten(group_id, request) or await self._in_turn(group_id, request)
        unfit = why_unfit(request)
        if unfit:
            return self._refuse(group_id, request, unfit)
        if not isinstance(request, Join | Sync):
            return await self._in_turn(group_id, request)
        try:
            return await self._wait_for_answer(group_id, request, wakeups or self._stores.wakeups)
        except asyncio.CancelledError:
            self._give_up(group_id, request)
            raise

    async def _wait_for_answer(
        self, group_id: str, request: Join | Sync, wakeups: Waiting
    ) -> Answer:
        with wakeups.subscribe([GroupKey(group_id)]) as woken:
            answer = await self._in_turn(group_id, request)
            while isinstance(answer, Parked):
                left = answer.deadline_ms - self._stores.clock.now_ms()
                await woken.wait(min(max(left, 1), LONGEST_WAIT_MS))
                again = answer.ask
                answer = self._at_once(group_id, again) or await self._in_turn(group_id, again)
            return answer

    def _beaten(self, group_id: str, request: Heartbeat) -> Answer | None:
        """Fast path: the answer, if the group in memory is current and the heartbeat changes
        nothing; else None."""
        queue = self._queues.of(group_id)
        if not self.groups.is_current(group_id, queue.version):
            return None
        now_ms = self._stores.clock.now_ms()
        answer = answer_heartbeat(queue.group, request, now_ms, self._process)
        if answer is not None and answer.error is None:
            queue.answered_ms[request.member_id] = now_ms
        return answer

    def _at_once(self, group_id: str, request: Join | Sync) -> Answer | None:
        """The same fast path for a parked request: most of its looks change nothing."""
        queue = self._queues.of(group_id)
        group = queue.group
        if isinstance(group, ConsumerGroup) or not self.groups.is_current(group_id, queue.version):
            return None
        now_ms = self._stores.clock.now_ms()
        heartbeats = queue.heartbeats(self._process, now_ms)
        taken = step(group, request, now_ms, self.settings, heartbeats)
        return taken.answer if taken.group is group else None

    def _give_up(self, group_id: str, request: Join | Sync) -> None:
        if isinstance(request, Join) and not request.member_id and request.instance_id is None:
            leave = Leave((Leaving(fresh_id(request)),))
            self._background.start(self._leave(group_id, leave))

    async def _leave(self, group_id: str, leave: Leave) -> None:
        await self._in_turn(group_id, leave)

    def _take_back_ids(
        self, group_id: str, group: Group | None, refused: Sequence[Request]
    ) -> None:
        """A client that was given an id and is then refused does not come back: remove the id."""
        for request in refused:
            if (
                isinstance(request, Join)
                and isinstance(group, ClassicGroup)
                and request.member_id in group.pending
            ):
                leave = Leave((Leaving(request.member_id),))
                self._background.start(self._leave(group_id, leave))

    async def look(self, group_id: str) -> tuple[Group | None, int]:
        """The group as it is now, and the version that is stored (0: there is none)."""
        queue = self._queues.of(group_id)
        group, version = await self._load(group_id, queue)
        if group is not None:
            now_ms = self._stores.clock.now_ms()
            group = expire(group, now_ms, self.settings, queue.heartbeats(self._process, now_ms))
        return group, version

    async def tidy(self, group_id: str) -> tuple[Group | None, int]:
        """As `look`, and store what was overdue: the group may have had no request for long."""
        queue = self._queues.of(group_id)
        await self._steps(group_id, queue, ())
        return queue.group, queue.version

    async def _load(self, group_id: str, queue: GroupQueue) -> tuple[Group | None, int]:
        group, version = queue.group, queue.version
        if self.groups.is_current(group_id, version):
            return group, version
        item = await self._stores.retry(self.groups.group, group_id, version)
        if item is None:
            group, version = None, 0
        elif item.version != version:
            group, version = _read(group_id, item), item.version
        queue.keep(version, group)
        return group, version

    def _in_turn(self, group_id: str, request: Request) -> "asyncio.Future[Answer]":
        queue = self._queues.of(group_id)
        answer = queue.ask(request)
        if not queue.turns:
            queue.turns = True
            self._background.start(queue.take_turns(partial(self._steps, group_id, queue)))
        return answer

    async def _steps(
        self, group_id: str, queue: GroupQueue, requests: Sequence[Request]
    ) -> Sequence[Answer]:
        for _ in range(TRIES):
            group, version = await self._load(group_id, queue)
            asked = await self._informed(group, requests)
            now_ms = self._stores.clock.now_ms()
            heartbeats = queue.heartbeats(self._process, now_ms)
            taken, packed = await self._where_it_may_take_long(
                group, queue, asked, now_ms, heartbeats
            )
            if taken.group is group and group is not None and queue.group is group:
                queue.group = quieted(group, now_ms, self.settings, heartbeats)
            if packed is None:
                self._take_back_ids(group_id, group, requests)
                return [self._refuse(group_id, request) for request in requests]
            if taken.group is group or await self._store(group_id, queue, version, taken, packed):
                for request, answer in zip(requests, taken.answers, strict=True):
                    self._hear(queue, request, answer)
                return taken.answers
        raise Unavailable(f"group {group_id!r} changes too fast")

    def _step(
        self,
        group: Group | None,
        queue: GroupQueue,
        asked: Sequence[Request],
        now_ms: int,
        heartbeats: MemberHeartbeats,
    ) -> tuple[Steps, bytes | None]:
        """The outcome of the requests, and the group as bytes: b"" if nothing changes, None if it
        is too large. Raises TooLarge if each request must be served by itself."""
        taken = steps(group, asked, now_ms, self.settings, heartbeats)
        if taken.group is group:
            return taken, b""
        packed = _packed(queue, group, taken, asked)
        if packed is None and len(asked) > 1:
            raise GroupTooLarge("one of several requests makes the group too large")
        if packed is None and isinstance(group, ConsumerGroup):
            # If the new topics make the group too large, the members keep the topics they have.
            known = [_without_new_topics(group, asked[0])]
            taken = steps(group, known, now_ms, self.settings, heartbeats)
            packed = b"" if taken.group is group else _packed(queue, group, taken, known)
        return taken, packed

    async def _where_it_may_take_long(
        self,
        group: Group | None,
        queue: GroupQueue,
        asked: Sequence[Request],
        now_ms: int,
        heartbeats: MemberHeartbeats,
    ) -> tuple[Steps, bytes | None]:
        """Step in the event loop; or in the thread, if many partitions may have to be assigned. The
        thread gets a copy of `answered_ms`, which the event loop changes meanwhile."""
        if not _is_wide(group, asked):
            return self._step(group, queue, asked, now_ms, heartbeats)
        still = heartbeats._replace(answered_ms=dict(heartbeats.answered_ms))
        work = self._topics.work
        return await work.in_thread(self._step, group, queue, asked, now_ms, still)

    def _refuse(self, group_id: str, request: Request, error: GroupError = FULL) -> Answer:
        self.refused += 1
        now_ms = self._stores.clock.now_ms()
        if abs(now_ms - self._said_at) >= SAY_EVERY_MS:
            self._said_at = now_ms
            what = type(request).__name__
            log.warning("group %.200r has no room for a %s: %s", group_id, what, error.name)
        return refusal(request, error)

    def _hear(self, queue: GroupQueue, request: Request, answer: Answer) -> None:
        """Note the time of a member's request. A join or sync that is still parked counts too."""
        error = getattr(answer, "error", None)
        self.refused += error is FULL
        if isinstance(request, Leave) or error is not None:
            return
        member_id = asker(request) if isinstance(request, Join | Sync) else request.member_id
        if queue.group is not None and member_id in queue.group.members:
            queue.answered_ms[member_id] = self._stores.clock.now_ms()

    async def _informed(
        self, group: Group | None, requests: Sequence[Request]
    ) -> Sequence[Request]:
        """Add topics to the requests if the coordinator has to assign: in a group of the consumer
        protocol, and in one that may become such a group in this turn."""
        assigns = isinstance(group, ConsumerGroup)
        if not assigns and not any(isinstance(each, ConsumerHeartbeat) for each in requests):
            return requests
        curious = [each for each in requests if isinstance(each, ConsumerHeartbeat | Join)]
        now = self._stores.clock.now_ms()
        known = await self._stores.retry(self._topics.at, now, any(map(_subscribes, curious)))
        patterns = {pattern for each in curious for pattern in patterns_of(group, each)}
        matches = await self._topics.matches(patterns, known) if patterns else {}
        return [
            each._replace(known=known, matches=await self._brought(matches, group, each))
            if isinstance(each, ConsumerHeartbeat | Join)
            else each
            for each in requests
        ]

    async def _brought(
        self, matches: Matches, group: Group | None, request: ConsumerHeartbeat | Join
    ) -> Matches:
        """What a request brings of these matches into its group. A client whose rights are limited
        brings only those of its own pattern, and of them the topics that it may see; what the
        patterns of other members match stays as it is.

        A topic that its pattern matched before stays too, until a member subscribes by that pattern
        again: else members with different rights would change the group with each heartbeat. That
        gives no rights: a member that may not read a topic is refused when it fetches."""
        if request.sees is None:
            return matches
        pattern = _own_pattern(group, request)
        is_new = isinstance(request, ConsumerHeartbeat) and request.pattern is not None
        held: frozenset[str] = frozenset()
        if isinstance(group, ConsumerGroup) and not is_new:
            held = frozenset(group.matches.get(pattern, ()))
        paced = self._topics.work.pace(matches.get(pattern, ()))
        found = [name async for name in paced if name in held or request.sees(name)]
        return {pattern: tuple(found)} if pattern in matches else {}

    async def _store(
        self, group_id: str, queue: GroupQueue, before: int, taken: Steps, packed: bytes
    ) -> bool:
        version = before + 1 if before else self._first_version()
        item = GroupItem(version, packed)
        stored = await self._put(group_id, item, before)
        if stored:
            queue.keep(item.version, taken.group)
            queue.forget_the_gone()
            if taken.wake:
                self._stores.wakeups.wake(GroupKey(group_id), taken.wake)
        return stored

    async def _put(self, group_id: str, item: GroupItem, after: int) -> bool:
        try:
            return await self.groups.put_group(group_id, item, after)
        except Misconfigured:
            raise
        except Unavailable:
            if await self._stores.retry(self.groups.put_group, group_id, item, after):
                return True
        # The first put may have been stored, and another process may have written after it. A
        # second step could not repeat the answer of the first one.
        raise Unavailable(f"group {group_id!r}: it is not known whether it was stored")

    def _first_version(self) -> int:
        """Of a group that is new: one that no group of its name has had."""
        return self._stores.clock.now_ms() << 20 | crc32(self._stores.nonce().encode()) & 0xFFFFF

    async def drain(self) -> None:
        await self._background.drain()


def _is_wide(group: Group | None, asked: Sequence[Request]) -> bool:
    """Whether many partitions may have to be assigned, or many topics checked for that."""
    if isinstance(group, ConsumerGroup) and _is_much(group.topics.values()):
        return True
    for each in asked:
        if isinstance(each, ConsumerHeartbeat | Join):
            names = [*(getattr(each, "topics", None) or ()), *chain(*each.matches.values())]
            if len(names) > MANY or _is_much(each.known[n] for n in names if n in each.known):
                return True
    return False


def _is_much(topics: Iterable[TopicInfo]) -> bool:
    return sum(1 + topic.partitions for topic in topics) > MANY


def _own_pattern(group: Group | None, request: ConsumerHeartbeat | Join) -> str:
    if isinstance(request, ConsumerHeartbeat) and request.pattern is not None:
        return request.pattern
    if not isinstance(group, ConsumerGroup):
        return ""
    member = group.members.get(request.member_id)
    return member.pattern if member is not None else ""


def _subscribes(request: ConsumerHeartbeat | Join) -> bool:
    if isinstance(request, Join):
        return not request.again
    return request.topics is not None or request.pattern is not None


def _read(group_id: str, item: GroupItem) -> Group | None:
    """A group that cannot be read counts as absent: its members join again and overwrite it."""
    try:
        return unpack(item.state)
    except CorruptGroup as error:
        log.error("group %.200r cannot be read, and begins anew: %s", group_id, error)
        return None


def _packed(
    queue: GroupQueue, group: Group | None, taken: Steps, asked: Sequence[Request]
) -> bytes | None:
    assert taken.group is not None
    try:
        packed = queue.packer.pack(taken.group)
    except GroupTooLarge:
        return None
    return packed if fits(len(packed), group, asked) else None


def _without_new_topics(group: ConsumerGroup, request: Request) -> Request:
    if not isinstance(request, ConsumerHeartbeat | Join):
        return request
    return request._replace(known=group.topics, matches=group.matches)
