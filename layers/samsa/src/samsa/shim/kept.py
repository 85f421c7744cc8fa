"""Empty answers that are kept, so that an idle consumer costs no messages. Pure.

A consumer with nothing to read asks the same again and again, but for the correlation id: bytes 4
to 8 of a request, and the first four of its response.
"""

from collections import OrderedDict
from collections.abc import Collection
from typing import NamedTuple

from samsa.envelope import Frame

MOST = 8
"""Of one client connection. A consumer has one; some ask for their partitions in turns."""


class Kept(NamedTuple):
    frame: Frame
    wait_s: float
    """How long a client waits for it: its max_wait."""
    good_until: float
    watches: Collection[str]


class KeptAnswers:
    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, Kept] = OrderedDict()

    def keep(self, request: Frame, kept: Kept) -> None:
        key = without_correlation(request)
        self._kept[key] = kept
        self._kept.move_to_end(key)
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def find(self, request: Frame, now: float) -> Kept | None:
        kept = self._kept.get(without_correlation(request)) if self._kept else None
        return kept if kept is not None and now < kept.good_until else None

    def forget(self, names: Collection[str]) -> None:
        """Something happened to these."""
        for key, kept in list(self._kept.items()):
            if any(name in kept.watches for name in names):
                del self._kept[key]

    def forget_all(self) -> None:
        self._kept.clear()


def without_correlation(request: Frame) -> bytes:
    view = memoryview(request)
    return b"".join((view[:4], view[8:]))


def answer_to(request: Frame, frame: Frame) -> bytes:
    """The kept response, as the one to this request."""
    return b"".join((memoryview(request)[4:8], memoryview(frame)[4:]))
