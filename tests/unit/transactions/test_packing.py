"""Transactions as bytes."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.transactions.given import found

from samsa.transactions import Corrupt, State, Transaction, pack, unpack
from samsa.transactions.packing import fits

COUNT = st.integers(0, (1 << 31) - 1)
TIME = st.integers(-1, 1 << 62)
PRODUCER = st.integers(-1, (1 << 63) - 1)
EPOCHS = st.integers(-1, 32_767)
TOPICS = st.sampled_from([UUID(int=1), UUID(int=1 << 120), UUID(int=(1 << 128) - 1)])
TRANSACTIONS = st.builds(
    Transaction,
    producer_id=PRODUCER,
    epoch=EPOCHS,
    state=st.sampled_from(State),
    serial=st.integers(0, 1 << 62),
    timeout_ms=COUNT,
    partitions=st.frozensets(st.tuples(TOPICS, COUNT | st.integers(0, 300)), max_size=12),
    groups=st.frozensets(st.text(max_size=200), max_size=4),
    started_at=TIME,
    changed_at=TIME,
    last_producer_id=PRODUCER,
    last_epoch=EPOCHS,
    next_producer_id=PRODUCER,
)


@given(TRANSACTIONS)
def test_what_is_stored_is_read_back(transaction):
    assert unpack(pack(transaction)) == transaction
    assert pack(unpack(pack(transaction))) == pack(transaction)


@given(TRANSACTIONS, st.data())
def test_a_transaction_that_was_cut_short_or_has_bytes_left_over_is_noticed(transaction, data):
    packed = pack(transaction)
    with pytest.raises(Corrupt):
        unpack(packed[: data.draw(st.integers(0, len(packed) - 1))])
    with pytest.raises(Corrupt):
        unpack(packed + b"\0")


@given(st.binary(max_size=200))
def test_any_other_bytes_are_corrupt_or_a_transaction(data):
    try:
        unpack(data)
    except Corrupt:
        return


@given(st.data())
def test_bytes_that_were_changed_are_corrupt_or_a_transaction(data):
    changed = bytearray(pack(data.draw(TRANSACTIONS)))
    changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        unpack(bytes(changed))
    except Corrupt:
        return


def test_a_later_version_is_corrupt():
    packed = pack(found(State.ONGOING))
    with pytest.raises(Corrupt, match="version 2"):
        unpack(b"\x02" + packed[1:])


@given(TRANSACTIONS)
def test_what_fits_is_what_is_packed_into_so_many_bytes(transaction):
    size = len(pack(transaction))
    assert fits(transaction, size)
    assert not fits(transaction, size - 1)


def test_a_hundred_partitions_of_a_topic_take_a_byte_each():
    none = found(State.ONGOING, partitions=frozenset())
    many = found(State.ONGOING, partitions=frozenset((UUID(int=1), n) for n in range(100)))
    assert len(pack(many)) - len(pack(none)) == 16 + 1 + 100
