"""Keeps empty Fetch responses, so that an idle consumer costs no messages. Pure.

Wakes bring the records that are appended meanwhile. They are kept with the answer that they follow
until the client asks for them. So a consumer at the end of its partitions costs these wakes only.
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field, replace

from samsa.bounded import Bounded
from samsa_websocket.envelope import Frame, Wake
from samsa_websocket.shim.news import Position, ToldAnswer, follow, identity, positions

MOST = 8
"""Kept answers of one client connection. Most consumers need one; some fetch their partitions in
turns."""
MOST_NEWS = 256 * 1024
"""Bytes of records that wait for a client. A client that is slower than that fetches them from the
cluster."""


@dataclass(slots=True)
class KeptAnswer:
    frame: Frame
    wait_s: float
    """How long a client waits for it: its max_wait."""
    good_until: float
    watches: frozenset[str]
    news: list[Wake] = field(default_factory=list)
    """The wakes whose records follow it, in order."""
    at: dict[Position, int] = field(default_factory=dict)
    """The client's positions after it has read the news."""


class EmptyFetchCache:
    def __init__(self) -> None:
        self._kept = Bounded[Hashable, KeptAnswer](MOST)

    def keep(self, request: Frame, kept: KeptAnswer) -> None:
        kept.at = positions(request)
        self._keep(identity(request), kept)

    def _keep(self, key: Hashable, kept: KeptAnswer) -> None:
        self._kept.keep(key, kept)

    def find(self, request: Frame, now: float) -> KeptAnswer | None:
        kept = self._kept.get(identity(request)) if self._kept else None
        return kept if kept is not None and now < kept.good_until else None

    def bring(self, wake: Wake) -> list[KeptAnswer]:
        """Keep what a wake brought with the answers that it follows, and return these. Other
        answers whose watches it names are forgotten."""
        took: list[KeptAnswer] = []
        for key, kept in list(self._kept.items()):
            if kept.watches.isdisjoint(wake.names):
                continue
            moved = follow(wake, kept.watches, kept.at)
            size = sum(len(each.frame) for each in (*kept.news, wake))
            if moved is None or size > MOST_NEWS:
                del self._kept[key]
            else:
                kept.at = moved
                kept.news.append(wake)
                took.append(kept)
        return took

    def told(self, request: Frame, kept: KeptAnswer, answer: ToldAnswer) -> None:
        """The client was sent the news: keep the empty answer to its next request."""
        self._kept.pop(identity(request), None)
        after = replace(kept, frame=answer.next_empty, news=[])
        self._keep(answer.next_identity, after)

    def forget(self, names: Collection[str]) -> None:
        """Forget the answers with one of these watches."""
        for key, kept in list(self._kept.items()):
            if not kept.watches.isdisjoint(names):
                del self._kept[key]

    def forget_all(self) -> None:
        self._kept.clear()


def answer_to(request: Frame, frame: Frame) -> bytes:
    """The kept response, with the correlation id of this request."""
    return b"".join((memoryview(request)[4:8], memoryview(frame)[4:]))
