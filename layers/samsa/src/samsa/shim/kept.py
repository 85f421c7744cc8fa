"""Empty answers that are kept, so that an idle consumer costs no messages. Pure.

A consumer with nothing to read asks the same again and again, but for two things: the correlation
id (bytes 4 to 8 of a request, and the first four of its response), and the order in which it names
its partitions. librdkafka begins with another one each time, for which it may name a topic twice,
and aiokafka shuffles them. Clients find partitions in an answer by their names: any order will do.
"""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterator
from typing import Any, NamedTuple

from samsa.envelope import Frame
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError
from samsa.wire.frame import read_request
from samsa.wire.rows import Row

MOST = 8
"""Of one client connection. A consumer has one; some ask for their partitions in turns."""

FETCH = ApiKey.FETCH.to_bytes(2, "big")


class Kept(NamedTuple):
    frame: Frame
    wait_s: float
    """How long a client waits for it: its max_wait."""
    good_until: float
    watches: Collection[str]


class KeptAnswers:
    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()

    def keep(self, request: Frame, kept: Kept) -> None:
        key = identity(request)
        self._kept[key] = kept
        self._kept.move_to_end(key)
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def find(self, request: Frame, now: float) -> Kept | None:
        kept = self._kept.get(identity(request)) if self._kept else None
        return kept if kept is not None and now < kept.good_until else None

    def forget(self, names: Collection[str]) -> None:
        """Something happened to these."""
        for key, kept in list(self._kept.items()):
            if any(name in kept.watches for name in names):
                del self._kept[key]

    def forget_all(self) -> None:
        self._kept.clear()


def identity(request: Frame) -> Hashable:
    """Equal for requests of which one's empty answer is the other's too."""
    view = memoryview(request)
    if view[:2] == FETCH:
        try:
            asked = read_request(view)
            row = APIS[ApiKey.FETCH].request.decode(asked.api_version, asked.body, exact=False)
            return bytes(view[2:4]), asked.client_id, *_unordered(row)
        except (DecodeError, KeyError):
            pass  # a version that is not ours: equal bytes are equal all the same
    return b"".join((view[:4], view[8:]))


def _unordered(fetch: Any) -> Iterator[Hashable]:
    yield frozenset(
        (topic.topic, topic.topic_id, *_values(entry))
        for topic in fetch.topics
        for entry in topic.partitions
    )
    fetch.topics = []
    yield from _values(fetch)


def _values(row: Row) -> Iterator[Hashable]:
    """Rows and lists are not hashable, and rare in what is left: their words will do."""
    for name in row.field_names:
        value = getattr(row, name)
        yield repr(value) if isinstance(value, Row | list) else value


def answer_to(request: Frame, frame: Frame) -> bytes:
    """The kept response, as the one to this request."""
    return b"".join((memoryview(request)[4:8], memoryview(frame)[4:]))
