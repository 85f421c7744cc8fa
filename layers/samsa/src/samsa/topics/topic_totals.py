"""Facts about all topics that are checked before one more is created: how many there are, and which
names collide in Kafka's metrics."""

from collections.abc import Sequence
from typing import NamedTuple

from samsa.ports import Topic


class Totals(NamedTuple):
    """How many topics and partitions there may be in total."""

    topics: int
    partitions: int


class TopicIndex:
    def __init__(self) -> None:
        self._topics: dict[str, Topic] = {}
        self._alike: dict[str, set[str]] = {}
        self.partitions = 0

    def __len__(self) -> int:
        return len(self._topics)

    def __contains__(self, name: str) -> bool:
        return name in self._topics

    def follow(self, listed: Sequence[Topic]) -> None:
        """Update the index to the ledger's list of all topics. Usually few of them have changed."""
        for topic in listed:
            if self._topics.get(topic.name) is not topic:
                self.put(topic)
        if len(self._topics) > len(listed):
            for name in self._topics.keys() - {topic.name for topic in listed}:
                self.drop(name)

    def put(self, topic: Topic) -> None:
        self.drop(topic.name)
        self._topics[topic.name] = topic
        self.partitions += topic.partitions
        self._alike.setdefault(_plain(topic.name), set()).add(topic.name)

    def drop(self, name: str) -> None:
        topic = self._topics.pop(name, None)
        if topic is None:
            return
        self.partitions -= topic.partitions
        alike = self._alike[_plain(name)]
        alike.discard(name)
        if not alike:
            del self._alike[_plain(name)]

    def colliding(self, name: str) -> str | None:
        """Another topic with the same name in Kafka's metrics, where a dot is an underscore."""
        others = self._alike.get(_plain(name), set()) - {name}
        return min(others, default=None)


def _plain(name: str) -> str:
    return name.replace(".", "_")
