"""Turns: what is written once. A micro-batch of a query, or one write of a named application.

A turn leaves objects behind, all under its name, and the next turn of the same writer deletes
them. Those of a job without a name are in a folder that the janitor empties after a day.
"""

from typing import NamedTuple
from urllib.parse import quote

from samsa.log.spills import SPILL

SINK = "sink/"
NAMELESS = f"{SPILL}{SINK}"
PLAN, DONE, DATA = "plan", "done", "data"


class Turn(NamedTuple):
    writer: str
    """A query's id, or the name that an application gave itself. It has no other turn of this
    number."""
    number: int
    can_come_again: bool = True
    """Whether it may be committed once more by a process that knows nothing of the first time."""

    @property
    def folder(self) -> str:
        """Of all turns of the same writer."""
        return f"{SINK if self.can_come_again else NAMELESS}{quote(self.writer, safe='')}/"

    def key(self, kind: str) -> str:
        return f"{self.folder}{self.number:020d}/{kind}"

    def data_key(self, attempt: str, number: int) -> str:
        """The key of what one attempt of one task staged: no other attempt uses it."""
        return self.key(f"{DATA}/{attempt}-{number:06d}")


class LeftObject(NamedTuple):
    """An object of some turn of the same writer."""

    key: str
    number: int
    kind: str


def left_by(turn: Turn, key: str) -> LeftObject:
    number, kind = key[len(turn.folder) :].split("/")[:2]
    return LeftObject(key, int(number), kind)
