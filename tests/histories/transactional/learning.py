"""What a history of transactions says, as the analyses want it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from histories.transactional.notebook import Line


class Outcome(Enum):
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class Anomaly(NamedTuple):
    kind: str
    said: str


class Send(NamedTuple):
    value: str
    partition: str
    at: int
    source: str | None
    """The value that it is a copy of."""


class Place(NamedTuple):
    partition: str
    offset: int


@dataclass
class Transaction:
    """Aborted is also one whose client never called commit: nobody else may commit it."""

    name: str
    by: str
    sends: list[Send] = field(default_factory=list)
    commit_at: int | None = None
    ended: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        return self.ended or (Outcome.ABORTED if self.commit_at is None else Outcome.UNKNOWN)

    @property
    def producer(self) -> str:
        """The transactional id, which all incarnations share."""
        return self.by.split(".")[0]


class Seen(NamedTuple):
    offset: int
    value: str
    at: int


@dataclass
class Session:
    """One reading of all partitions from their starts, in the order of what came."""

    by: str
    began_at: int
    seen: dict[str, list[Seen]] = field(default_factory=lambda: defaultdict(list))
    reached: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    @property
    def is_last(self) -> bool:
        """Of a look at all of it when all was over."""
        return self.by.startswith("last")

    def passed(self, partition: str) -> int:
        """All below was there to be read."""
        ends: list[int] = [seen.offset + 1 for seen in self.seen.get(partition, ())]
        return max([0, *ends, *self.reached.get(partition, ())])


class Ends(NamedTuple):
    stable: int
    high: int


@dataclass
class Knowledge:
    transactions: dict[str, Transaction] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    stored: dict[str, Place] = field(default_factory=dict)
    """By value: where its producer was told that it is."""
    ends: dict[str, Ends] = field(default_factory=dict)
    group: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    of_value: dict[str, tuple[Transaction, Send]] = field(default_factory=dict)

    @property
    def last_looks(self) -> list[Session]:
        return [session for session in self.sessions.values() if session.is_last]

    def all_seen(self) -> Iterator[tuple[Session, str, Seen]]:
        for session in self.sessions.values():
            for partition, rows in session.seen.items():
                for seen in rows:
                    yield session, partition, seen

    def places(self) -> dict[str, set[Place]]:
        """By value: where readers with read_committed saw it."""
        found: dict[str, set[Place]] = defaultdict(set)
        for _, partition, seen in self.all_seen():
            found[seen.value].add(Place(partition, seen.offset))
        return found

    def finally_seen(self) -> set[str]:
        return {seen.value for session, _, seen in self.all_seen() if session.is_last}


def learn(lines: Iterable[Line]) -> Knowledge:
    """From lines in the order of time."""
    known = Knowledge()
    for line in lines:
        _ENTER.get(line["kind"], _nothing)(known, line)
    return known


def _nothing(_: Knowledge, line: Line) -> None:
    """For people, such as why a call failed."""
    if line["kind"] not in ("must abort", "gave up"):
        raise ValueError(f"no such kind of line: {line}")


def _begin(known: Knowledge, line: Line) -> None:
    name = line["transaction"]
    known.transactions[name] = Transaction(name, line["by"])


def _send(known: Knowledge, line: Line) -> None:
    transaction = known.transactions[line["transaction"]]
    send = Send(line["value"], line["partition"], line["at"], line.get("source"))
    transaction.sends.append(send)
    known.of_value[send.value] = transaction, send


def _stored(known: Knowledge, line: Line) -> None:
    known.stored[line["value"]] = Place(line["partition"], line["offset"])


def _commit(known: Knowledge, line: Line) -> None:
    known.transactions[line["transaction"]].commit_at = line["at"]


def _committed(known: Knowledge, line: Line) -> None:
    known.transactions[line["transaction"]].ended = Outcome.COMMITTED


def _aborted(known: Knowledge, line: Line) -> None:
    known.transactions[line["transaction"]].ended = Outcome.ABORTED


def _session(known: Knowledge, line: Line) -> Session:
    return known.sessions.setdefault(line["by"], Session(line["by"], line["at"]))


def _look(known: Knowledge, line: Line) -> None:
    _session(known, line)


def _read(known: Knowledge, line: Line) -> None:
    rows = zip(line["offsets"], line["values"], strict=True)
    seen = [Seen(offset, value, line["at"]) for offset, value in rows]
    _session(known, line).seen[line["partition"]] += seen


def _reached(known: Knowledge, line: Line) -> None:
    _session(known, line).reached[line["partition"]].append(line["offset"])


def _refused(known: Knowledge, line: Line) -> None:
    known.refused.append(f"{line['by']} in {line['partition']}: {line['error']}")


def _ends(known: Knowledge, line: Line) -> None:
    known.ends[line["partition"]] = Ends(line["stable"], line["high"])


def _group(known: Knowledge, line: Line) -> None:
    known.group[line["partition"]] = line["offset"]


_ENTER = {
    "begin": _begin,
    "send": _send,
    "stored": _stored,
    "commit": _commit,
    "committed": _committed,
    "aborted": _aborted,
    "look": _look,
    "read": _read,
    "reached": _reached,
    "refused": _refused,
    "ends": _ends,
    "group": _group,
}
