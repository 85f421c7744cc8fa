"""What is asked of Apache Kafka and of Samsa about transactions, each in the same order."""

from clients.transaction_talk import TOPIC, Side

LATEST, EARLIEST, NEWEST = -1, -2, -3
NOBODY = 1 << 40
LARGEST_TIMEOUT_MS = 900_000
UNCOMMITTED = 0
STRANGE = {"producer_id": NOBODY}


def ids_are_given(side: Side, version: int) -> None:
    side.init(version, transactional_id="")
    for timeout_ms in (-1, 0, LARGEST_TIMEOUT_MS + 1):
        side.init(version, transaction_timeout_ms=timeout_ms)
    side.init(version)
    side.init(version)
    side.describe()
    side.init(version, transaction_timeout_ms=LARGEST_TIMEOUT_MS)
    side.describe()


def a_producer_goes_on_after_an_error(side: Side, version: int) -> None:
    """KIP-360: it names the id and the epoch that it had."""
    side.init(version)
    first = {"producer_id": side.producer_id, "producer_epoch": side.epoch}
    side.init(version, **first)
    side.init(version, **first)  # an answer that was lost is told again
    second = {**first, "producer_epoch": side.epoch}
    side.init(version, **second)
    side.init(version, keep=False, **first)
    side.init(version, producer_id=side.producer_id, producer_epoch=side.epoch + 5)
    side.init(version, producer_id=NOBODY, producer_epoch=0)
    side.init(version, producer_id=side.producer_id)
    side.init(version, producer_epoch=side.epoch)
    side.init(version, transactional_id=f"{side.id} unknown", producer_id=7, producer_epoch=3)
    side.describe()


def a_new_incarnation_aborts(side: Side, version: int) -> None:
    side.init(version)
    old = side.epoch
    side.add_partitions(3)
    side.produce(11, 0)
    side.describe_producers()
    side.init(version)
    side.is_settled()
    side.fetch(12)
    side.produce(11, 1, producer_epoch=old)
    side.add_partitions(0, producer_epoch=old)
    side.add_partitions(3, producer_epoch=old)
    side.end(1, producer_epoch=old)
    side.end(4, producer_epoch=old)
    side.describe_producers()


def partitions_are_added(side: Side, version: int) -> None:
    mine = side.partition
    side.add_partitions(version, transactional_id=f"{side.id} unknown", producer_id=1)
    side.init()
    side.add_partitions(version, (TOPIC, [mine, 9_999]), ("nowhere", [0]))
    side.describe()
    side.add_partitions(version, **STRANGE)
    side.add_partitions(version, producer_epoch=side.epoch + 1)
    side.add_partitions(version, producer_epoch=side.epoch - 1)
    side.add_partitions(version, transactional_id="")
    side.add_partitions(version, (TOPIC, [mine, mine + 1]))
    side.describe()
    side.add_partitions(version, (TOPIC, [mine]))
    side.end(3)
    side.is_settled()
    side.describe()
    side.fetch(12)  # a marker without data


def partitions_are_verified(side: Side, version: int) -> None:
    mine = side.partition
    side.add_partitions(version, verify=True, transactional_id=f"{side.id} unknown")
    side.init()
    side.add_partitions(version, verify=True)
    side.add_partitions(version, (TOPIC, [mine]))
    side.add_partitions(version, (TOPIC, [mine]), verify=True)
    side.add_partitions(version, (TOPIC, [mine + 1]), verify=True)
    side.add_partitions(version, (TOPIC, [mine]), verify=True, **STRANGE)
    side.add_partitions(version, (TOPIC, [mine]), verify=True, producer_epoch=side.epoch + 1)
    side.end(3, committed=False)
    side.is_settled()
    side.add_partitions(version, (TOPIC, [mine]), verify=True)


def offsets_are_added(side: Side, version: int) -> None:
    side.add_offsets(version, transactional_id=f"{side.id} unknown", producer_id=1)
    side.init()
    side.add_offsets(version, **STRANGE)
    side.add_offsets(version, producer_epoch=side.epoch + 1)
    side.add_offsets(version, producer_epoch=side.epoch - 1)
    side.add_offsets(version, transactional_id="")
    side.add_offsets(version)
    side.add_offsets(version)
    side.list_transactions(2)
    side.end(3)


def a_transaction_ends(side: Side, version: int) -> None:
    side.end(version, transactional_id=f"{side.id} unknown", producer_id=1)
    side.end(version, transactional_id="")
    side.init()
    side.end(version, **STRANGE)
    side.end(version, producer_epoch=side.epoch + 1)
    side.end(version, producer_epoch=side.epoch - 2)
    for committed in (True, False):
        old = side.epoch
        side.add_partitions(3)
        side.describe()
        side.end(version, committed)
        side.is_settled()
        side.describe()
        side.end(version, committed, producer_epoch=old)
        side.end(version, not committed, producer_epoch=old)
        side.describe()


def nothing_is_ended(side: Side, version: int) -> None:
    side.init()
    side.end(version, committed=True)
    side.end(version, committed=False)
    side.is_settled()
    side.end(version, committed=False)
    side.is_settled()
    side.describe()


def offsets_are_committed(side: Side, version: int) -> None:
    side.init()
    side.commit_offsets(version, 1, transactional_id=f"{side.id} unknown")
    side.commit_offsets(version, 1, **STRANGE)
    side.commit_offsets(version, 1, producer_epoch=side.epoch + 1)
    if version < 5:
        side.commit_offsets(version, 1)  # its group is not in the transaction
        side.add_offsets(3)
    if version >= 3:
        side.commit_offsets(version, 2, member_id="nobody", generation_id=1)
        side.commit_offsets(version, 2, generation_id=7)
        side.commit_offsets(version, 2, group_instance_id="nobody")
    side.commit_offsets(version, 3, topic="nowhere")
    side.commit_offsets(version, 3, metadata="x" * 5_000)
    side.commit_offsets(version, 3, metadata="here")
    side.fetch_offset(9, stable=False)
    side.fetch_offset(9, stable=True)
    side.end(5 if version >= 5 else 3)
    side.is_settled()
    side.fetch_offset(9, stable=True)
    if version < 5:
        side.add_offsets(3)
    side.commit_offsets(version, 8)
    side.end(5 if version >= 5 else 3, committed=False)
    side.is_settled()
    side.fetch_offset(9, stable=True)
    side.fetch_offset(9, stable=False)


def stable_offsets_are_asked_for(side: Side, version: int) -> None:
    side.init()
    side.add_offsets(3)
    side.commit_offsets(3, 5)
    side.fetch_offset(version, stable=True)
    side.fetch_offset(version, stable=False)
    side.end(3)
    side.is_settled()
    side.fetch_offset(version, stable=True)


def batches_are_refused(side: Side, version: int) -> None:
    side.produce(version, 0, producer_id=5, producer_epoch=0, transactional_id=None)
    side.init()
    if version < 12:
        side.produce(version, 0)  # not in a transaction
        side.add_partitions(3)
    side.produce(version, 0, transactional_id=None)
    side.produce(version, 0, transactional_id=f"{side.id} unknown")
    side.produce(version, 0, **STRANGE)
    side.produce(version, 0, producer_epoch=side.epoch + 1)
    side.produce(version, 0)
    side.produce(version, 0)  # sent again
    side.produce(version, 2)
    side.produce(version, 1, producer_epoch=side.epoch - 1)
    side.produce(version, 1)
    side.describe()
    side.end(5 if version >= 12 else 3)
    side.is_settled()
    side.describe_producers()
    side.fetch(12)


def batches_without_a_transaction_among_them(side: Side, version: int) -> None:
    """An idempotent producer, and a transactional one that is not in this partition."""
    side.init()
    if version < 12:
        side.add_partitions(3)
    side.produce(version, 0)
    side.produce(version, -1, transactional=False, producer_id=-1, producer_epoch=-1)
    if version < 12:
        side.produce(version, 0, partition=1)
    side.list_offsets(7, LATEST)
    side.end(5 if version >= 12 else 3)
    side.is_settled()
    side.describe_producers()
    side.describe_producers(1)
    side.list_offsets(7, LATEST)
    side.fetch(12)


def records_are_read(side: Side, version: int) -> None:
    side.init()
    for committed in (True, False, True, False):
        side.produce(12, 0)
        side.produce(12, 1)
        side.fetch(version)
        side.fetch(version, UNCOMMITTED)
        side.end(5, committed)
        side.is_settled()
        side.produce(9, -1, transactional=False, producer_id=-1, producer_epoch=-1)
    for offset in range(17):
        side.fetch(version, offset=offset)
    side.fetch(version, UNCOMMITTED, 5)


def offsets_are_listed(side: Side, version: int) -> None:
    side.init()
    for committed in (True, False):
        side.produce(12, 0)
        for timestamp in (LATEST, EARLIEST, 0, *((NEWEST,) if version >= 7 else ())):
            side.list_offsets(version, timestamp)
            side.list_offsets(version, timestamp, UNCOMMITTED)
        side.end(5, committed)
        side.is_settled()
    side.list_offsets(version, LATEST)


def transactions_are_listed(side: Side, version: int) -> None:
    side.init()
    side.list_transactions(version)
    if version >= 1:
        side.list_transactions(version, duration_filter=1_000_000)  # it has not begun
    side.produce(12, 0)
    side.list_transactions(version)
    for states in (["Ongoing"], ["Empty"], ["Nonsense", "Ongoing"], ["Nonsense"], ["ongoing"]):
        side.list_transactions(version, state_filters=states)
    side.list_transactions(version, producer_id_filters=[side.producer_id, NOBODY])
    side.list_transactions(version, producer_id_filters=[NOBODY])
    if version >= 1:
        side.list_transactions(version, duration_filter=0)
        side.list_transactions(version, duration_filter=1_000_000)
    if version >= 2:
        for pattern in ("id-of-.*", "id", ".*listed.*", "(", ""):
            side.list_transactions(version, transactional_id_pattern=pattern)
    side.end(5)
    side.is_settled()
    side.list_transactions(version)
    side.list_transactions(version, state_filters=["CompleteCommit"])
    if version >= 1:
        side.list_transactions(version, duration_filter=0)
        side.list_transactions(version, duration_filter=1_000_000)


def a_batch_is_outside_of_the_transaction(side: Side, version: int) -> None:
    """Of its producer, in the partition where that has one open."""
    side.init()
    if version < 12:
        side.add_partitions(3)
    side.produce(version, 0)
    side.produce(version, 1, transactional=False)
    side.produce(version, 1)
    side.produce(version, 2, transactional=False)


def rules_are_broken(side: Side, version: int) -> None:
    """What no client does; the answers differ on purpose."""
    mine = side.partition
    side.init()
    if version < 12:
        side.add_partitions(3)
    side.produce(version, 1)  # out of order, and the first in its partition
    side.produce(version, 0)
    side.produce(version, 1, transactional=False)
    side.add_partitions(4, (TOPIC, [mine, mine + 1]), verify=True)


STORIES = {
    ids_are_given: range(6),
    a_producer_goes_on_after_an_error: range(3, 6),
    a_new_incarnation_aborts: (0, 2, 5),
    partitions_are_added: range(6),
    partitions_are_verified: (4, 5),
    offsets_are_added: range(5),
    a_transaction_ends: range(6),
    nothing_is_ended: range(6),
    offsets_are_committed: range(6),
    stable_offsets_are_asked_for: range(7, 11),
    batches_are_refused: range(3, 14),
    batches_without_a_transaction_among_them: (11, 12),
    a_batch_is_outside_of_the_transaction: range(3, 14),
    records_are_read: range(4, 19),
    offsets_are_listed: range(2, 12),
    transactions_are_listed: range(3),
}
