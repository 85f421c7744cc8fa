"""The order of what is read."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from histories.transactional.learning import Anomaly, Knowledge


def out_of_order(known: Knowledge) -> Iterator[Anomaly]:
    """Of one transactional id, what was sent to a partition first is there first."""
    places = known.places()
    sent: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for transaction in known.transactions.values():
        for send in transaction.sends:
            if send.value in places:
                sent[transaction.producer, send.partition].append((send.at, send.value))
    for (_, partition), values in sent.items():
        ordered = [(min(places[value]).offset, value) for _, value in sorted(values)]
        for (before, one), (after, other) in pairwise(ordered):
            if after < before:
                said = f"{partition}: {other} at {after} was sent after {one} at {before}"
                yield Anomaly("out of order", said)


def nonmonotonic_polls(known: Knowledge) -> Iterator[Anomaly]:
    """A reader that goes on is given something at or before what it has read."""
    for session in known.sessions.values():
        for partition, rows in session.seen.items():
            for before, after in pairwise(rows):
                if after.offset <= before.offset:
                    said = f"{session.by} in {partition}: {after.offset} after {before.offset}"
                    yield Anomaly("nonmonotonic poll", said)


def skipped_polls(known: Knowledge) -> Iterator[Anomaly]:
    """A reader passed an offset where another one read something, and did not see it."""
    seen_by_any: dict[str, dict[int, str]] = defaultdict(dict)
    for _, partition, seen in known.all_seen():
        seen_by_any[partition][seen.offset] = seen.value
    for session in known.sessions.values():
        for partition, values in seen_by_any.items():
            own, passed = (
                {seen.offset for seen in session.seen[partition]},
                session.passed(partition),
            )
            for offset in sorted(values.keys() - own):
                if offset < passed:
                    said = f"{session.by} passed {partition} at {offset}: {values[offset]}"
                    yield Anomaly("skipped poll", said)


def ends_that_went_back(known: Knowledge) -> Iterator[Anomaly]:
    """The end for a reader with read_committed only grows: for one reader, and for one that began
    after another had read."""
    for session in known.sessions.values():
        for partition, ends in session.reached.items():
            for before, after in pairwise(ends):
                if after < before:
                    said = f"{session.by} in {partition}: from {before} to {after}"
                    yield Anomaly("end went back", said)
    firsts = _first_seen(known)
    for session in known.sessions.values():
        for partition, ends in session.reached.items():
            hidden = [
                offset
                for offset, at in firsts[partition].items()
                if at < session.began_at and offset >= ends[0]
            ]
            if hidden:
                said = f"{session.by} in {partition}: {ends[0]}, after {max(hidden)} was read"
                yield Anomaly("end went back", said)


def _first_seen(known: Knowledge) -> dict[str, dict[int, int]]:
    """By partition and offset: when it was read first."""
    firsts: dict[str, dict[int, int]] = defaultdict(dict)
    for _, partition, seen in known.all_seen():
        known_at = firsts[partition].get(seen.offset, seen.at)
        firsts[partition][seen.offset] = min(known_at, seen.at)
    return firsts
