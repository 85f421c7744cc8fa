"""What must be true of a topic after a soak."""

from soak.followers import read_all, starts
from soak.writers import Place, Said

Records = dict[Place, Said]


def judge(bootstrap: str, topic: str, partitions: int, acknowledged: Records, seen: Records) -> int:
    """Above the log's start all is there as it was acknowledged, and as it was seen. Where that
    is, at most."""
    there = read_all(bootstrap, topic, partitions)
    start = starts(bootstrap, topic, partitions)
    for place, said in acknowledged.items():
        if place.offset >= start[place.partition]:
            assert there.get(place) == said, f"{place} is lost or changed"
    nothing_has_changed(there, acknowledged, seen)
    once = [said for said in there.values() if said.is_once]
    assert len(set(once)) == len(once), "an idempotent producer's record is there twice"
    return max(start)


def judge_compacted(
    bootstrap: str, topic: str, partitions: int, acknowledged: Records, seen: Records
) -> int:
    """The newest record of every key is there, at its place, and nothing newer. How many are."""
    there = read_all(bootstrap, topic, partitions)
    nothing_has_changed(there, acknowledged, seen)
    newest = newest_by_key(acknowledged)
    for place in newest.values():
        assert there.get(place) == acknowledged[place], f"{place} is lost or changed"
    assert newest_by_key(there) == newest
    for records in (there, seen):
        assert_in_order(records)
    assert starts(bootstrap, topic, partitions) == [0] * partitions
    return len(there)


def nothing_has_changed(there: Records, acknowledged: Records, seen: Records) -> None:
    for place, said in seen.items():
        assert acknowledged.get(place, said) == said, f"{place} was seen as something else"
    for place, said in there.items():
        assert seen.get(place, said) == said, f"{place} has changed"
        assert acknowledged.get(place, said) == said, f"{place} is something else"


def newest_by_key(records: Records) -> dict[bytes | None, Place]:
    found: dict[bytes | None, Place] = {}
    for place in sorted(records):
        found[records[place].key] = place
    return found


def assert_in_order(records: Records) -> None:
    """Of a producer whose retries cannot overtake one another."""
    last: dict[tuple[int, bytes | None], int] = {}
    for place in sorted(place for place, said in records.items() if said.is_once):
        said, which = records[place], (place.partition, records[place].key)
        assert last.get(which, -1) < said.number, f"{place} has something old, or again"
        last[which] = said.number
