"""One value has one place, and one place one value."""

from collections import defaultdict
from collections.abc import Iterator

from histories.transactional.learning import Anomaly, Knowledge, Outcome, Place


def duplicates(known: Knowledge) -> Iterator[Anomaly]:
    """A value is at two offsets."""
    for value, places in known.places().items():
        if len(places) > 1:
            where = ", ".join(f"{each.partition} at {each.offset}" for each in sorted(places))
            yield Anomaly("duplicate", f"{value} is in {where}")


def inconsistent_offsets(known: Knowledge) -> Iterator[Anomaly]:
    """An offset holds two values, as readers saw it and as producers were told."""
    values: dict[Place, set[str]] = defaultdict(set)
    for value, places in known.places().items():
        for place in places:
            values[place].add(value)
    for value, place in known.stored.items():
        # What was aborted is hidden, but its offset is taken by it.
        values[place].add(value)
    for place, some in values.items():
        if len(some) > 1:
            said = f"{place.partition} at {place.offset} holds {', '.join(sorted(some))}"
            yield Anomaly("inconsistent offset", said)


def misplaced(known: Knowledge) -> Iterator[Anomaly]:
    """A value is read elsewhere than its producer was told."""
    for value, places in known.places().items():
        told = known.stored.get(value)
        if told is not None and places - {told}:
            found = ", ".join(str(each.offset) for each in sorted(places))
            yield Anomaly("misplaced", f"{value} was stored at {told.offset}, and read at {found}")


def committed_places(known: Knowledge) -> dict[str, dict[int, str]]:
    """By partition and offset: what is committed, as readers saw it or producers were told."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for value, places in known.places().items():
        for place in places:
            found[place.partition][place.offset] = value
    for value, place in known.stored.items():
        transaction, _ = known.of_value[value]
        if transaction.outcome is Outcome.COMMITTED:
            found[place.partition][place.offset] = value
    return found
