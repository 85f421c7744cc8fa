"""Turns: what is written once. A micro-batch of a query, or one write of a named application to a
topic.

A turn leaves objects behind, all under its name, and the next turn of the same writer deletes
them. Those of a job without a name are in a folder that the janitor empties after a day.
"""

from typing import NamedTuple
from urllib.parse import quote

from samsa.log.spills import SPILL

SINK = "sink/"
NAMELESS = f"{SPILL}{SINK}"
BY_COLUMN = "by-column"
"""The target of a named write whose rows name their topics: one turn for all of these topics."""
PLAN, DONE, DATA = "plan", "done", "data"


class Turn(NamedTuple):
    writer: str
    """A query's id, or the name that an application gave itself. It has no other turn of this
    number, or, with a target, no other one for this target."""
    number: int
    can_come_again: bool = True
    """Whether it may be committed once more by a process that knows nothing of the first time."""
    target: str = ""
    """Of a named write: the id of its topic, or BY_COLUMN. A topic that was deleted and created
    again is another target."""

    @property
    def folder(self) -> str:
        """Of all turns of the same writer, for the same target."""
        root = SINK if self.can_come_again else NAMELESS
        return f"{root}{self._at}{quote(self.writer, safe='')}/"

    @property
    def name(self) -> str:
        """Of the writer and the target: no other writer has this name."""
        return f"{self._at}{self.writer}"

    @property
    def _at(self) -> str:
        return f"@{self.target}/" if self.target else ""  # no quoted name begins with an @

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
