"""Every topic by name, for groups whose partitions the coordinator assigns.

They are looked up once a second, however many members there are: a new topic, or a new partition,
is assigned with the first heartbeat after that. Only who says what it subscribes to has them looked
up at once: it may have made the topic just before.
"""

from collections.abc import Awaitable, Callable, Iterable

from samsa.groups import BadPattern, TopicInfo, matches
from samsa.ports import Topic

REMEMBER_MS = 1_000


class Snapshot:
    """The topics as they were at one time, and which of them a pattern stands for."""

    def __init__(self, topics: Iterable[Topic]) -> None:
        self.topics = {topic.name: TopicInfo(topic.id, topic.partitions) for topic in topics}
        self._matches: dict[str, tuple[str, ...]] = {}

    def matches(self, patterns: Iterable[str]) -> dict[str, tuple[str, ...]]:
        return {pattern: self._matching(pattern) for pattern in patterns}

    def _matching(self, pattern: str) -> tuple[str, ...]:
        if pattern not in self._matches:
            try:
                self._matches[pattern] = matches(pattern, self.topics)
            except BadPattern:
                self._matches[pattern] = ()  # the step refuses it by itself
        return self._matches[pattern]


class KnownTopics:
    def __init__(self, look_up: Callable[[], Awaitable[list[Topic]]]) -> None:
        self._look_up = look_up
        self._until = 0
        self._snapshot = Snapshot(())

    async def at(self, now_ms: int, fresh: bool = False) -> Snapshot:
        if fresh or self._until <= now_ms:
            self._snapshot = Snapshot(await self._look_up())
            self._until = now_ms + REMEMBER_MS
        return self._snapshot
