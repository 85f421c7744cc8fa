"""Empty answers that are kept, so that an idle consumer costs no messages. Pure.

What is appended meanwhile is brought by wakes, and kept with the answer that it follows until the
client asks for it. So a consumer at the end of its partitions costs no messages but these wakes.
"""

from collections import OrderedDict
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field, replace

from samsa.envelope import Frame, Wake
from samsa.shim.news import Answer, Position, follow, identity, positions

MOST = 8
"""Of one client connection. A consumer has one; some ask for their partitions in turns."""
MOST_NEWS = 256 * 1024
"""Bytes of records that wait for a client. Of one that is slower than that, what comes is left to
the cluster."""


@dataclass(slots=True)
class Kept:
    frame: Frame
    wait_s: float
    """How long a client waits for it: its max_wait."""
    good_until: float
    watches: frozenset[str]
    news: list[Wake] = field(default_factory=list)
    """What follows it, in order."""
    at: dict[Position, int] = field(default_factory=dict)
    """Where the client stands when it has read that."""


class KeptAnswers:
    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()

    def keep(self, request: Frame, kept: Kept) -> None:
        kept.at = positions(request)
        self._keep(identity(request), kept)

    def _keep(self, key: Hashable, kept: Kept) -> None:
        self._kept[key] = kept
        self._kept.move_to_end(key)
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def find(self, request: Frame, now: float) -> Kept | None:
        kept = self._kept.get(identity(request)) if self._kept else None
        return kept if kept is not None and now < kept.good_until else None

    def bring(self, wake: Wake) -> list[Kept]:
        """Keep what a wake brought with the answers that it follows: these. Others whose watches it
        names are forgotten."""
        took: list[Kept] = []
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

    def told(self, request: Frame, kept: Kept, answer: Answer) -> None:
        """The client was told what had been brought: it comes back with another request."""
        self._kept.pop(identity(request), None)
        after = replace(kept, frame=answer.next_empty, news=[])
        self._keep(answer.next_identity, after)

    def forget(self, names: Collection[str]) -> None:
        """Something happened to these."""
        for key, kept in list(self._kept.items()):
            if not kept.watches.isdisjoint(names):
                del self._kept[key]

    def forget_all(self) -> None:
        self._kept.clear()


def answer_to(request: Frame, frame: Frame) -> bytes:
    """The kept response, as the one to this request."""
    return b"".join((memoryview(request)[4:8], memoryview(frame)[4:]))
