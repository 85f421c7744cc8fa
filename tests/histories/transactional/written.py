"""Transactional histories written by hand, in few words: what happened, one after the other."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from histories.transactional.notebook import Line

At = tuple[str, int, str]
"""A partition, an offset and the value there."""


class Story:
    """Lines, whose times are 1, 2, 3 … A transaction is named as `w.1.2`: its transactional id, the
    incarnation of the client, and its number."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._times = count(1)

    def add(self, kind: str, by: str, **more: Any) -> None:
        self.lines.append({"kind": kind, "by": by, "at": next(self._times), **more})

    def sends(self, transaction: str, *places: At, **more: Any) -> None:
        """It begins, and all of it is stored where these places are."""
        by = transaction.rpartition(".")[0]
        self.add("begin", by, transaction=transaction)
        for partition, offset, value in places:
            self.add("send", by, transaction=transaction, partition=partition, value=value, **more)
            self.add("stored", by, partition=partition, value=value, offset=offset)

    def calls_commit(self, transaction: str) -> None:
        self.add("commit", transaction.rpartition(".")[0], transaction=transaction)

    def ends(self, transaction: str, how: str) -> None:
        self.add(how, transaction.rpartition(".")[0], transaction=transaction)

    def commits(self, transaction: str, *places: At, **more: Any) -> None:
        self.sends(transaction, *places, **more)
        self.calls_commit(transaction)
        self.ends(transaction, "committed")

    def aborts(self, transaction: str, *places: At) -> None:
        self.sends(transaction, *places)
        self.ends(transaction, "aborted")

    def sees(self, by: str, *places: At, **reached: int) -> None:
        """A reader that looks from the start. `reached`: the ends that it came to, by partition."""
        self.add("look", by)
        self.goes_on(by, *places, **reached)

    def goes_on(self, by: str, *places: At, **reached: int) -> None:
        for partition, offset, value in places:
            self.add("read", by, partition=partition, offsets=[offset], values=[value])
        for partition, offset in reached.items():
            self.add("reached", by, partition=partition, offset=offset)

    def closes(self, *places: At, **ends: int) -> None:
        """Nothing holds readers back any more, and the last look sees this."""
        for partition, end in ends.items():
            self.add("ends", "last", partition=partition, stable=end, high=end)
        self.sees("last-0", *places, **ends)


def places(partition: str, values: str) -> Iterator[At]:
    """Of `ab`: a at offset 0, b at 1. A dot is an offset without a value."""
    return ((partition, n, value) for n, value in enumerate(values) if value != ".")
