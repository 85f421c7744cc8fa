"""What must be true afterwards, whatever the stores did meanwhile."""

from faults.clients import DELIVERY_S, PARTITIONS, Clients, Sender, Sent, Watcher
from faults.cluster import BROKERS, Cluster
from server.peer import Peer
from server.talk import LATEST, everything, offset_at
from support.waiting import eventually

from samsa.wire.errors import ErrorCode

Log = dict[int, list[tuple[int, bytes]]]
"""Of every partition: offset and value of its records, in order."""
SLACK_S = 5.0
PATIENCE_S = 25.0


def hold(cluster: Cluster, topic: str, clients: Clients) -> None:
    earlier, log = [read_log(cluster, number, topic, clients) for number in range(BROKERS)]
    the_brokers_agree(earlier, log)
    no_offset_is_missing(log)
    for sender in clients.senders:
        nothing_acknowledged_is_lost(log, sender)
        every_record_was_answered_in_time(sender)
        everything_read_was_sent_by(log, sender)
    idempotent_records_are_there_once_and_in_order(log, clients.idempotent)
    the_watcher_saw_a_prefix(log, clients.watcher)
    assert cluster.unforeseen() == []


def the_brokers_agree(earlier: Log, later: Log) -> None:
    """What was given up by its client may still have come in between."""
    for partition, found in earlier.items():
        assert found == later[partition][: len(found)], f"not about partition {partition}"


def no_offset_is_missing(log: Log) -> None:
    for partition, found in log.items():
        assert [offset for offset, _ in found] == list(range(len(found))), f"partition {partition}"


def read_log(cluster: Cluster, number: int, topic: str, clients: Clients) -> Log:
    with cluster.peer(number) as peer:
        return {
            partition: read_partition(peer, topic, partition, last(clients, partition))
            for partition in range(PARTITIONS)
        }


def read_partition(peer: Peer, topic: str, partition: int, last: int) -> list[tuple[int, bytes]]:
    """All of it. What began in the storm may still fail for a while; but the first answer shows
    all that was acknowledged."""
    end = eventually(lambda: an_end(peer, topic, partition), PATIENCE_S)
    assert end > last, (
        f"what was acknowledged at {last} is hidden: partition {partition} ends {end}"
    )
    found = eventually(lambda: everything(peer, topic, partition), PATIENCE_S)
    return [(record.offset, bytes(record.value)) for record in found]


def an_end(peer: Peer, topic: str, partition: int) -> int:
    answer = offset_at(peer, topic, LATEST, partition)
    assert answer.error_code == ErrorCode.NONE, answer
    return int(answer.offset)


def last(clients: Clients, partition: int) -> int:
    """The last offset that anyone was told."""
    told = [
        one.offset
        for sender in clients.senders
        for one in sender.acknowledged
        if one.partition == partition and one.offset is not None
    ]
    return max(told, default=-1)


def nothing_acknowledged_is_lost(log: Log, sender: Sender) -> None:
    values = {partition: dict(found) for partition, found in log.items()}
    lost = [one for one in sender.acknowledged if not is_stored(one, values[one.partition])]
    assert not lost, f"acknowledged and not there: {lost}"


def is_stored(one: Sent, values: dict[int, bytes]) -> bool:
    return (
        one.value in values.values() if one.offset is None else values.get(one.offset) == one.value
    )


def every_record_was_answered_in_time(sender: Sender) -> None:
    late = [one for one in sender.sent if not 0 <= one.took_s <= DELIVERY_S + SLACK_S]
    assert not late, f"not answered in time: {late}"


def everything_read_was_sent_by(log: Log, sender: Sender) -> None:
    """Each in the partition that it was sent to."""
    sent = {(one.partition, one.value) for one in sender.sent}
    strange = [(p, value) for p, value in values_of(log, sender) if (p, value) not in sent]
    assert not strange, f"never sent: {strange}"


def idempotent_records_are_there_once_and_in_order(log: Log, sender: Sender) -> None:
    for partition in log:
        stored = [value for p, value in values_of(log, sender) if p == partition]
        assert len(stored) == len(set(stored)), f"twice in partition {partition}: {stored}"
        acknowledged = [one.value for one in sender.acknowledged if one.partition == partition]
        known = set(acknowledged)
        assert [value for value in stored if value in known] == acknowledged, "out of order"


def values_of(log: Log, sender: Sender) -> list[tuple[int, bytes]]:
    mark = f"{sender.name} ".encode()
    return [(p, value) for p in log for _, value in log[p] if value.startswith(mark)]


def the_watcher_saw_a_prefix(log: Log, watcher: Watcher) -> None:
    for partition, seen in watcher.seen.items():
        assert seen == log[partition][: len(seen)], f"partition {partition} changed"
