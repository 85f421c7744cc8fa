"""Consume, transform, produce: each value is copied exactly once, or not yet.

What lies below the committed offset of the group has one committed copy. What lies at it or above
has none.
"""

from collections import Counter
from collections.abc import Iterator

from histories.transactional.learning import Anomaly, Knowledge, Place


def fractured_copies(known: Knowledge) -> Iterator[Anomaly]:
    places = known.places()
    copies = Counter(
        known.of_value[value][1].source for value in known.finally_seen() & known.of_value.keys()
    )
    for value, count in copies.items():
        if value is not None and count > 1:
            yield Anomaly("copied twice", f"{value} has {count} committed copies")
        if value is not None and value not in places:
            yield Anomaly("copied from nothing", f"nobody else has read {value}")
    for value, some in places.items():
        place = min(some)
        if place.partition in known.group:
            yield from _judge(value, place, copies[value], known.group[place.partition])


def _judge(value: str, place: Place, copies: int, committed: int) -> Iterator[Anomaly]:
    where = f"{value} in {place.partition} at {place.offset}, committed is {committed}"
    if place.offset < committed and not copies:
        yield Anomaly("not copied", where)
    if place.offset >= committed and copies:
        yield Anomaly("copied without its offset", where)
