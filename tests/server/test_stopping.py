"""The end of a broker: SIGTERM answers what is in flight; after `kill -9` nothing is missing."""

import signal
import time
from pathlib import Path

import pytest
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import (
    batch,
    create,
    describe,
    end_of,
    everything,
    fetch_row,
    produce_row,
    records_in,
    values,
    write,
)

from samsa.wire.apis import ApiKey


def answers_until_the_end(peer: Peer) -> list[int]:
    """The offsets of produce answers, until the broker closes."""
    offsets = []
    try:
        while True:
            offsets.append(peer.answer().responses[0].partition_responses[0].base_offset)
    except (EOFError, ConnectionResetError, IndexError):
        return offsets


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_broker_with_status_0(number: int, tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa, samsa.peer() as peer:
        write(peer, "t", b"x")
        samsa.process.send_signal(number)
        assert samsa.process.wait(20) == 0
        assert peer.is_closed()
    assert "Traceback" not in samsa.said()


def test_what_is_stored_when_sigterm_comes_was_acknowledged(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as peer:
            create(peer, "t")
            for n in range(300):
                peer.send(ApiKey.PRODUCE, 9, produce_row("t", batch(b"%d" % n + b"x" * 2_000)))
            first = peer.answer().responses[0].partition_responses[0].base_offset
            samsa.process.send_signal(signal.SIGTERM)
            acknowledged = [first, *answers_until_the_end(peer)]
        assert samsa.process.wait(30) == 0
        samsa.again()
        with samsa.peer() as peer:
            stored = everything(peer, "t")
        assert acknowledged == list(range(len(stored)))
        assert [int(r.value.rstrip(b"x")) for r in stored] == acknowledged


def test_an_answer_that_is_being_sent_when_sigterm_comes_is_sent_to_its_end(
    tmp_path: Path,
) -> None:
    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as writer:
            create(writer, "t")
            for _ in range(15):
                write(writer, "t", b"x" * 1_000_000)
        with Peer(samsa.address, receive_buffer=64 * 1024) as slow:
            slow.send(ApiKey.FETCH, 12, fetch_row("t", 0))
            begun = slow.read(4)
            samsa.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            answer = slow.read(int.from_bytes(begun, "big"))
        assert len(answer) > 15_000_000
        assert samsa.process.wait(30) == 0


def test_a_parked_fetch_does_not_keep_a_broker_alive(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa, samsa.peer() as consumer:
        create(consumer, "t")
        consumer.send(ApiKey.FETCH, 12, fetch_row("t", 0, wait_ms=60_000))
        time.sleep(0.3)
        samsa.process.send_signal(signal.SIGTERM)
        assert samsa.process.wait(10) == 0


def test_a_client_that_falls_silent_does_not_keep_a_broker_alive(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa, samsa.peer() as silent, samsa.peer() as idle:
        create(idle, "t")
        silent.say(silent.frame(ApiKey.PRODUCE, 9, produce_row("t", batch(b"x" * 90_000)))[:50_000])
        time.sleep(0.1)
        samsa.process.send_signal(signal.SIGTERM)
        assert samsa.process.wait(10) == 0


def test_after_kill_9_everything_acknowledged_is_served_at_once(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as peer:
            create(peer, "t")
            for n in range(400):
                peer.send(ApiKey.PRODUCE, 9, produce_row("t", batch(b"%d" % n)))
            for n in range(200):
                assert peer.answer().responses[0].partition_responses[0].base_offset == n
            samsa.kill()
        samsa.again()
        with samsa.peer() as peer:
            after = write(peer, "t", b"after")
            assert after >= 200
            found = values(everything(peer, "t"))
        assert len(found) == after + 1, "the first answer lacks something"
        assert found[:200] == [b"%d" % n for n in range(200)]
        assert found[-1] == b"after"


def test_after_kill_9_records_can_be_read_that_arrived_after_the_restart(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa:
        for n in range(3):
            with samsa.peer() as peer:
                write(peer, "t", b"%d" % n)
                samsa.kill()
            samsa.again()
        with samsa.peer() as peer:
            assert end_of(peer, "t") == 3
            peer.send(ApiKey.FETCH, 12, fetch_row("t", 3, wait_ms=20_000))
            with samsa.peer() as other:
                write(other, "t", b"3")
            got = peer.answer().responses[0].partitions[0]
            assert values(records_in(got.records)) == [b"3"]


def test_the_cluster_keeps_its_name_and_its_topics_across_restarts(tmp_path: Path) -> None:
    def described(samsa: Samsa) -> tuple[str, list[tuple[str, object]]]:
        with samsa.peer() as peer:
            answer = describe(peer)
        return answer.cluster_id, [(t.name, t.topic_id) for t in answer.topics]

    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as peer:
            create(peer, "a", partitions=3)
            create(peer, "b")
        before = described(samsa)
        assert samsa.stop() == 0
        samsa.again()
        assert described(samsa) == before
