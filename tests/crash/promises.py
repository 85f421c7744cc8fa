"""What must hold after the crashes, whatever happened in them."""

from collections import Counter
from collections.abc import Sequence

from crash.producers import Producer

from samsa.records import Record


def every_acknowledgement_holds(producer: Producer, log: Sequence[Record]) -> None:
    """The offset that was acknowledged holds exactly that record, and order is kept."""
    by_offset = {record.offset: record.value for record in log}
    lost = [one for one in producer.acknowledged if one.offset not in by_offset]
    assert not lost, f"{len(lost)} acknowledged records are not there, first {lost[0].offset}"
    for offset, value in producer.acknowledged:
        assert by_offset[offset] == value, f"offset {offset} holds another record"
    offsets = [one.offset for one in producer.acknowledged]
    assert offsets == sorted(set(offsets)), "acknowledgements are out of order, or share offsets"


def nothing_was_made_up(producer: Producer, log: Sequence[Record]) -> None:
    offsets = [record.offset for record in log]
    assert offsets == list(range(len(log))), "the offsets have holes"
    strange = {record.value for record in log} - set(producer.sent)
    assert not strange, f"{len(strange)} records that nobody sent"


def each_is_there_once_and_in_order(producer: Producer, log: Sequence[Record]) -> None:
    found = [record.value for record in log]
    repeated = [value[:12] for value, times in Counter(found).items() if times > 1]
    assert not repeated, f"{len(repeated)} records are there more than once: {repeated[:3]}"
    assert found == producer.sent, "records are missing or changed places"


def the_prefix_never_changed(seen: Sequence[Record], log: Sequence[Record]) -> None:
    assert seen == list(log[: len(seen)]), "a consumer saw something that is not in the log"
