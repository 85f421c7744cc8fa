"""Every topic by name, for groups whose partitions the coordinator assigns.

They are looked up once a second, however many members there are: a new topic, or a new partition,
is assigned with the first heartbeat after that. A request with a subscription looks them up at
once, because its client may have just created the topic.

Patterns are matched in a thread, a slice at a time, and only against topics that are new since the
last match: a heartbeat of a group whose topics have not changed costs one dictionary lookup.
"""

from collections.abc import Awaitable, Callable, Iterable

from samsa.broker.work import Work
from samsa.groups import BadPattern, PatternMatches, TopicInfo
from samsa.ports import Topic

REMEMBER_MS = 1_000

Topics = dict[str, TopicInfo]


class KnownTopics:
    def __init__(
        self, look_up: Callable[[], Awaitable[list[Topic]]], work: Work | None = None
    ) -> None:
        self._look_up = look_up
        self.work = work or Work()
        self._until = 0
        self._listed: list[Topic] = []
        self._topics: Topics = {}
        self._matches = PatternMatches()

    async def at(self, now_ms: int, fresh: bool = False) -> Topics:
        if fresh or not 0 < self._until - now_ms <= REMEMBER_MS:
            listed = await self._look_up()
            if listed is not self._listed:
                await self._take(listed)
            self._until = now_ms + REMEMBER_MS
        return self._topics

    async def _take(self, listed: list[Topic]) -> None:
        """Keeps the same dictionary object if its content has not changed."""
        topics = {
            topic.name: TopicInfo(topic.id, topic.partitions)
            async for topic in self.work.pace(listed)
        }
        self._listed = listed
        if topics != self._topics:
            self._topics = topics

    async def matches(self, patterns: Iterable[str], topics: Topics) -> dict[str, tuple[str, ...]]:
        return {pattern: await self._matching(pattern, topics) for pattern in patterns}

    async def _matching(self, pattern: str, topics: Topics) -> tuple[str, ...]:
        found = self._matches.at_once(pattern, topics)
        if found is not None:
            return found
        try:
            return await self.work.in_slices(self._matches.of(pattern, topics))
        except BadPattern:
            return ()  # the step refuses it by itself
