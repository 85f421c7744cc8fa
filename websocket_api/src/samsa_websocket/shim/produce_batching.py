"""Joins produce requests of one client into one message. Pure.

When a client pipelines, its next requests arrive while others are being answered. Consecutive
produces become one message, and so one invocation, one commit and one put. The function queues each
in the log before it reads the next, so their order stays that of the connection. A produce does not
wait for others, unless `--linger-ms` is set: only those that have already arrived are joined.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, takewhile
from typing import TypeAlias

from samsa.wire.apis import ApiKey
from samsa_websocket.envelope import LARGEST_INLINE, MOST_TOGETHER, joined

LARGEST_UPLOAD = 4 * 1024 * 1024
"""Unless a single request is larger. It fits into one commit, and it is uploaded while earlier
requests are answered; a much larger upload would delay its own commit."""
SIZE = 4
"""Bytes of a frame's own length."""
PRODUCE = ApiKey.PRODUCE.to_bytes(2, "big")

Group: TypeAlias = tuple[bytes, ...]


def company(waiting: Iterable[bytes]) -> Group:
    """The first request, and those behind it that join it; empty if there is none."""
    here = list(islice(waiting, MOST_TOGETHER))
    produces = list(takewhile(is_produce, here)) or here[:1]
    sizes = list(accumulate(SIZE + len(frame) for frame in produces))
    inline = bool(sizes) and sizes[0] <= LARGEST_INLINE
    fitting = bisect_right(sizes, LARGEST_INLINE if inline else LARGEST_UPLOAD)
    return tuple(produces[: max(fitting, 1)])


def may_grow(waiting: Sequence[bytes]) -> bool:
    """Whether another produce, if one came, would join all that are here."""
    group = company(waiting)
    return (
        0 < len(group) == len(waiting) < MOST_TOGETHER
        and is_produce(group[0])
        and size_of(group) < LARGEST_UPLOAD
    )


def parts(group: Group) -> Iterator[bytes]:
    """Their bytes in order: bare, or each behind its size."""
    return iter(group) if len(group) <= 1 else joined(group)


def size_of(group: Group) -> int:
    return sum(map(len, parts(group)))


def is_produce(frame: bytes) -> bool:
    return frame[:2] == PRODUCE
