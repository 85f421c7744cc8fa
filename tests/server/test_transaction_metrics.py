"""The metrics of transactions, as `docs/running.md` describes them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import create
from server.transactional import Transactional, read_committed
from support.waiting import eventually

OPEN = "samsa_transactions_open"
OLDEST = "samsa_transactions_oldest_seconds"
TIMED_OUT = "samsa_transactions_timed_out_total"
HELD_BACK = "samsa_transactions_held_back_offsets"
RECORD = (b"key", b"value")


@pytest.fixture
def samsa(tmp_path: Path) -> Iterator[Samsa]:
    """One whose transactions are those of the test."""
    with a_samsa(tmp_path / "samsa", "--metrics-port", "0") as running:
        yield running


def test_open_transactions_are_counted_and_so_is_what_they_hold_back(samsa: Samsa, peer: Peer):
    create(peer, "letters")
    assert [samsa.metrics()[name] for name in (OPEN, OLDEST, TIMED_OUT, HELD_BACK)] == [0, 0, 0, 0]
    producers = [Transactional(peer, name) for name in ("one", "two")]
    for producer in producers:
        producer.put("letters", RECORD, RECORD)
    assert not read_committed(peer, "letters").records
    assert eventually(lambda: samsa.metrics()[OLDEST] > 0)
    found = samsa.metrics()
    assert (found[OPEN], found[HELD_BACK]) == (2, 4)
    for producer in producers:
        producer.end(committed=True)
    assert len(read_committed(peer, "letters").records) > 0
    found = samsa.metrics()
    assert [found[name] for name in (OPEN, OLDEST, TIMED_OUT, HELD_BACK)] == [0, 0, 0, 0]


def test_a_transaction_that_is_aborted_because_its_time_is_up_is_counted(samsa: Samsa, peer: Peer):
    create(peer, "letters")
    Transactional(peer, "slow", timeout_ms=200).put("letters", RECORD)

    def aborted() -> bool:
        """A reader that waits behind it ends it."""
        read_committed(peer, "letters", wait_ms=500)
        return samsa.metrics()[TIMED_OUT] == 1

    assert eventually(aborted)
    assert samsa.metrics()[OPEN] == 0
