"""Requests that are asked together. Pure.

A client that pipelines has its next requests here while others are being answered. Produces that
follow one another become one message, and so one invocation, one slot and one put: the function
queues each in the log before it looks at the next, and their order stays that of the connection.
Nothing waits for company, unless the shim is told to (`--linger-ms`): what is here when it is asked
goes along.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, takewhile
from typing import TypeAlias

from samsa.envelope import LARGEST_INLINE, MOST_TOGETHER, joined
from samsa.wire.apis import ApiKey

LARGEST_UPLOAD = 4 * 1024 * 1024
"""Unless a single request is larger. It fits into one slot, and its bytes are on their way while
those before are answered: much more would wait for itself."""
SIZE = 4
"""Bytes of a frame's own length."""
PRODUCE = ApiKey.PRODUCE.to_bytes(2, "big")

Group: TypeAlias = tuple[bytes, ...]


def company(waiting: Iterable[bytes]) -> Group:
    """The first request, and those behind it that go along; none if there is none."""
    here = list(islice(waiting, MOST_TOGETHER))
    produces = list(takewhile(_is_produce, here)) or here[:1]
    sizes = list(accumulate(SIZE + len(frame) for frame in produces))
    inline = bool(sizes) and sizes[0] <= LARGEST_INLINE
    fitting = bisect_right(sizes, LARGEST_INLINE if inline else LARGEST_UPLOAD)
    return tuple(produces[: max(fitting, 1)])


def may_grow(waiting: Sequence[bytes]) -> bool:
    """Whether another produce, should it come, would go along with all that are here."""
    group = company(waiting)
    return (
        0 < len(group) == len(waiting) < MOST_TOGETHER
        and _is_produce(group[0])
        and size_of(group) < LARGEST_UPLOAD
    )


def parts(group: Group) -> Iterator[bytes]:
    """Their bytes in order: bare, or each behind its size."""
    return iter(group) if len(group) <= 1 else joined(group)


def size_of(group: Group) -> int:
    return sum(map(len, parts(group)))


def _is_produce(frame: bytes) -> bool:
    return frame[:2] == PRODUCE
