"""Partitions and groups of a transaction."""

from uuid import UUID

import pytest
from unit.transactions.given import EPOCH, ID, NOW, ONE, TWO, Shell, found

from samsa.transactions import (
    AddGroup,
    AddPartitions,
    Answer,
    Settings,
    State,
    TransactionError,
    pack,
)

ONES, TWOS = frozenset({ONE}), frozenset({TWO})
IDLE = [State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT]


@pytest.mark.parametrize("state", IDLE)
def test_the_first_partition_begins_the_transaction(state):
    shell = Shell(found(state, started_at=NOW - 9), now=NOW + 1)
    assert shell.once(AddPartitions(ID, EPOCH, ONES)) == Answer(None, ID, EPOCH, serial=3)
    begun = found(State.ONGOING, groups=frozenset(), started_at=NOW + 1, changed_at=NOW + 1)
    assert shell.transaction == begun


@pytest.mark.parametrize("state", IDLE)
def test_a_group_begins_the_transaction_too(state):
    shell = Shell(found(state), now=NOW + 1)
    assert shell.once(AddGroup(ID, EPOCH, "g")) == Answer(None, ID, EPOCH, serial=3)
    begun = found(State.ONGOING, partitions=frozenset(), started_at=NOW + 1, changed_at=NOW + 1)
    assert shell.transaction == begun


def test_even_no_partition_begins_the_transaction():
    """As in Kafka: such a transaction can be committed."""
    shell = Shell(found(State.EMPTY))
    assert shell.once(AddPartitions(ID, EPOCH, frozenset())).error is None
    assert shell.transaction.state is State.ONGOING


def test_what_is_added_later_joins_and_the_deadline_stays():
    shell = Shell(found(State.ONGOING), now=NOW + 50)
    assert shell.once(AddPartitions(ID, EPOCH, TWOS)) == Answer(None, ID, EPOCH, serial=3)
    assert shell.once(AddGroup(ID, EPOCH, "h")) == Answer(None, ID, EPOCH, serial=3)
    assert shell.transaction == found(
        State.ONGOING,
        partitions=ONES | TWOS,
        groups=frozenset({"g", "h"}),
        changed_at=NOW + 50,
    )


def test_what_is_there_already_writes_nothing():
    ongoing = found(State.ONGOING)
    shell = Shell(ongoing, now=NOW + 50)
    assert shell.once(AddPartitions(ID, EPOCH, ONES)) == Answer(None, ID, EPOCH, serial=3)
    assert shell.once(AddGroup(ID, EPOCH, "g")) == Answer(None, ID, EPOCH, serial=3)
    assert shell.transaction is ongoing


def some(count):
    return frozenset((UUID(int=number << 64), number) for number in range(count))


def test_a_partition_for_which_there_is_no_room_is_refused_and_nothing_changes():
    full = found(State.ONGOING, partitions=some(10))
    shell = Shell(full, settings=Settings(most_bytes=len(pack(full))))
    refused = Answer(TransactionError.INVALID_REQUEST)
    assert shell.once(AddPartitions(ID, EPOCH, TWOS)) == refused
    assert shell.once(AddGroup(ID, EPOCH, "h")) == refused
    assert shell.transaction is full
    assert shell.once(AddPartitions(ID, EPOCH, some(10))).error is None


def test_a_partition_that_fills_the_room_exactly_is_added():
    full = found(State.ONGOING, partitions=some(10), groups=frozenset())
    shell = Shell(
        found(State.ONGOING, partitions=some(9), groups=frozenset()),
        settings=Settings(most_bytes=len(pack(full))),
    )
    assert shell.once(AddPartitions(ID, EPOCH, some(10))).error is None
    assert shell.transaction == full


def test_the_default_room_has_thousands_of_partitions_each_of_a_topic_of_its_own():
    shell = Shell(found(State.EMPTY))
    assert shell.once(AddPartitions(ID, EPOCH, some(4_000))).error is None


def test_partitions_and_groups_are_counted_however_few_bytes_they_take():
    shell = Shell(found(State.EMPTY))
    refused = Answer(TransactionError.INVALID_REQUEST)
    topic = [(UUID(int=1), number) for number in range(4_001)]
    assert shell.once(AddPartitions(ID, EPOCH, frozenset(topic))) == refused
    assert shell.once(AddPartitions(ID, EPOCH, frozenset(topic[:3_999]))).error is None
    assert shell.once(AddGroup(ID, EPOCH, "g")).error is None
    full = shell.transaction
    assert shell.once(AddGroup(ID, EPOCH, "h")) == refused
    assert shell.once(AddPartitions(ID, EPOCH, frozenset(topic[3_999:]))) == refused
    assert shell.transaction is full
    assert shell.once(AddPartitions(ID, EPOCH, frozenset(topic[:3_999]))).error is None


def test_groups_fill_the_room_by_their_bytes_and_not_their_characters():
    shell = Shell(found(State.EMPTY), settings=Settings(most_bytes=1_000))
    assert shell.once(AddGroup(ID, EPOCH, "g" * 900)).error is None
    shell = Shell(found(State.EMPTY), settings=Settings(most_bytes=1_000))
    wide = AddGroup(ID, EPOCH, "\N{GREEK SMALL LETTER ALPHA}" * 900)
    assert shell.once(wide) == Answer(TransactionError.INVALID_REQUEST)
