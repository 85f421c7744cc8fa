"""What one client may take: connections, time, memory. And what the metrics say of it."""

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import append, batch, create, fetch_row, produce_row, read, versions, write
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

MB = 1024 * 1024


def test_one_connection_too_many_is_refused_and_the_others_stay(tmp_path: Path) -> None:
    with a_samsa(tmp_path, "--max-connections", "5") as samsa:
        inside = [samsa.peer() for _ in range(5)]
        for peer in inside:
            assert versions(peer)
        with samsa.peer() as outside:
            assert outside.is_closed()
        assert len([line for line in samsa.logged() if "too many connections" in line]) == 1
        inside.pop().close()
        assert eventually(lambda: _is_welcome(samsa))
        for peer in inside:
            assert versions(peer)
            peer.close()


def _is_welcome(samsa: Samsa) -> bool:
    with samsa.peer() as peer:
        return bool(versions(peer))


def test_idle_connections_end_and_busy_ones_do_not(tmp_path: Path) -> None:
    with a_samsa(tmp_path, "--idle-timeout", "2") as samsa:
        idle, silent, parked, busy = (samsa.peer() for _ in range(4))
        create(busy, "t")
        silent.say(silent.frame(ApiKey.PRODUCE, 9, produce_row("t", batch(b"x" * 900)))[:500])
        parked.send(ApiKey.FETCH, 12, fetch_row("t", 0, wait_ms=4_500))
        stop = time.monotonic() + 4.5
        while time.monotonic() < stop:
            assert versions(busy)
            time.sleep(0.1)
        assert idle.is_closed()
        assert silent.is_closed()
        assert parked.answer().responses[0].partitions[0].error_code == 0
        assert len([line for line in samsa.logged() if "idle connection closed" in line]) == 2


def test_a_client_that_takes_no_answers_is_idle_too(tmp_path: Path) -> None:
    options = ("--idle-timeout", "1", "--metrics-port", "0")
    with a_samsa(tmp_path, *options) as samsa:
        with samsa.peer() as writer:
            create(writer, "t")
            for _ in range(20):
                write(writer, "t", b"x" * 1_000_000)
        with Peer(samsa.address, receive_buffer=4096) as deaf:
            deaf.send(ApiKey.FETCH, 12, fetch_row("t", 0))
            assert eventually(lambda: samsa.metrics()["samsa_connections"] == 1)
            assert eventually(lambda: samsa.metrics()["samsa_connections"] == 0, seconds=15)


def test_a_reset_that_comes_with_the_last_bytes_is_noticed(tmp_path: Path) -> None:
    options = ("--idle-timeout", "6", "--metrics-port", "0")
    with a_samsa(tmp_path, *options) as samsa:
        for size in (1, 3, 4, 30, 300):
            leaving = samsa.peer()
            leaving.say(b"\0\0\xff\xff" + b"x" * size)
            leaving.reset()
        assert eventually(lambda: samsa.metrics()["samsa_connections"] == 0, seconds=20)
        assert "idle connection closed" not in "\n".join(samsa.logged())


def test_a_frame_at_the_limit_is_read_and_one_over_it_is_not(tmp_path: Path) -> None:
    with a_samsa(tmp_path, "--max-frame-bytes", "100000") as samsa, samsa.peer() as peer:
        create(peer, "t")
        spare = 100_000 + 4 - len(peer.frame(ApiKey.PRODUCE, 9, produce_row("t", batch(b""))))
        peer._asked.pop()
        least = spare - 20
        sizes = {size: len(_frame_of(peer, size)) - 4 for size in range(least, spare + 1)}
        fits = max(size for size, frame in sizes.items() if frame <= 100_000)
        assert append(peer, "t", batch(b"x" * fits)).base_offset == 0
        peer.say(_frame_of(peer, fits + 10))
        assert peer.is_closed()


def _frame_of(peer: Peer, size: int) -> bytes:
    frame = peer.frame(ApiKey.PRODUCE, 9, produce_row("t", batch(b"x" * size)))
    peer._asked.pop()
    return frame


ANNOUNCED, LARGE = 50 * MB, 20 * MB
BUDGET = 130 * MB
TIGHT = (
    *("--max-request-memory", str(BUDGET), "--max-frame-bytes", str(60 * MB)),
    *("--metrics-port", "0"),
)


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A broker with room for a few large requests at a time."""
    with a_samsa(tmp_path_factory.mktemp("tight"), *TIGHT, "--idle-timeout", "10") as samsa:
        yield samsa


def test_two_hundred_idle_connections_take_little_memory(tight: Samsa) -> None:
    before = tight.resident()
    idle = [tight.peer() for _ in range(200)]
    for peer in idle:
        assert versions(peer)
    grown = tight.resident() - before
    for peer in idle:
        peer.close()
    assert grown < 200 * 128 * 1024


@pytest.fixture
def patient(tmp_path: Path) -> Any:
    """The same, but nobody is taken to be idle: of fifty threads on a busy machine one may get no
    turn for ten seconds."""
    with a_samsa(tmp_path, *TIGHT, "--idle-timeout", "120") as samsa:
        yield samsa


def test_fifty_large_requests_at_once_stay_within_the_memory_and_all_progress(
    patient: Samsa,
) -> None:
    with patient.peer() as peer:
        create(peer, "large")
    data = batch(b"x" * LARGE)
    peers = [patient.peer() for _ in range(50)]
    frames = peers[0].frame(ApiKey.PRODUCE, 9, produce_row("large", data))
    before, most = patient.resident(), 0
    ready = threading.Barrier(51)
    errors: list[ErrorCode] = []

    def send(peer: Peer) -> None:
        peer.say(frames[:8])
        ready.wait(20)
        peer.socket.settimeout(60)
        peer._asked = [(1, ApiKey.PRODUCE, 9)]
        peer.say(frames[8:])
        answer = peer.answer().responses[0].partition_responses[0]
        errors.append(ErrorCode(answer.error_code))
        peer.close()

    threads = [threading.Thread(target=send, args=(peer,), daemon=True) for peer in peers]
    for thread in threads:
        thread.start()
    ready.wait(20)
    while any(thread.is_alive() for thread in threads):
        most = max(most, patient.resident() - before)
        time.sleep(0.01)
    assert errors == [ErrorCode.MESSAGE_TOO_LARGE] * 50
    assert most < BUDGET + 32 * MB


def test_clients_that_only_announce_large_frames_do_not_harm_those_with_small_ones(
    tight: Samsa,
) -> None:
    before = tight.resident()
    announcing = [tight.peer() for _ in range(50)]
    for peer in announcing:
        peer.say(ANNOUNCED.to_bytes(4, "big"))
    with tight.peer() as peer:
        for n in range(50):
            assert write(peer, "small", b"%d" % n) == n
        assert tight.resident() - before < BUDGET + 32 * MB
        assert append(peer, "small", batch(b"x" * 500_000)).base_offset == 50
    for peer in announcing:
        peer.close()


def test_announced_bytes_take_no_memory_from_requests_that_arrive(tmp_path: Path) -> None:
    """Each of six announces the largest frame, fills the first buffer, and sends a byte more at
    times: nobody lets them go, and nobody has to."""
    with a_samsa(tmp_path, "--metrics-port", "0") as samsa, samsa.peer() as peer:
        slow = [samsa.peer() for _ in range(6)]
        for one in slow:
            one.say((100 * MB).to_bytes(4, "big") + b"x" * 100_000)
        for n in range(10):
            assert append(peer, "ordinary", batch(b"x" * 900_000)).base_offset == n
            for one in slow:
                one.say(b"x")
        assert ErrorCode(append(peer, "ordinary", batch(b"x" * LARGE)).error_code) is (
            ErrorCode.MESSAGE_TOO_LARGE
        )
        assert samsa.metrics()["samsa_connections"] == 7
        for one in slow:
            one.close()


def test_clients_that_stall_within_large_frames_make_way_for_those_who_wait(tight: Samsa) -> None:
    stalled = [tight.peer() for _ in range(3)]
    for peer in stalled:
        peer.say(ANNOUNCED.to_bytes(4, "big"))
    senders = [threading.Thread(target=_say_much, args=(peer,), daemon=True) for peer in stalled]
    for sender in senders:
        sender.start()
    with tight.peer() as peer:
        assert append(peer, "patient", batch(b"x" * 500_000)).base_offset == 0
        for _ in range(2):
            error = append(peer, "patient", batch(b"x" * 40 * MB)).error_code
            assert ErrorCode(error) is ErrorCode.MESSAGE_TOO_LARGE
    assert "stalled request closed" in "\n".join(tight.logged())
    let_go = 'samsa_connections_let_go_total{why="stalled request"}'
    assert tight.metrics()[let_go] >= 1
    for peer in stalled:
        peer.close()


def _say_much(peer: Peer) -> None:
    """More than half of what was announced, if the broker takes it."""
    with suppress(OSError):
        peer.say(b"x" * (ANNOUNCED * 2 // 3))


def test_a_client_below_the_minimum_rate_is_let_go_and_one_above_it_is_not(
    tmp_path: Path,
) -> None:
    options = ("--min-request-rate", "100", "--slow-grace", "1", "--metrics-port", "0")
    with a_samsa(tmp_path, *options) as samsa, samsa.peer() as fast, samsa.peer() as slow:
        create(fast, "t")
        frame = fast.frame(ApiKey.PRODUCE, 9, produce_row("t", batch(b"x" * 3_000)))
        slow.say(frame[:1_000])
        sent = 0
        while sent < len(frame):
            fast.say(frame[sent : sent + 100])
            sent += 100
            if samsa.metrics()["samsa_connections"] == 2:
                slow.say(b"x")
            time.sleep(0.1)
        assert fast.answer().responses[0].partition_responses[0].base_offset == 0
        assert slow.is_closed()
        told = [line for line in samsa.logged() if "slow request closed" in line]
        assert len(told) == 1
        assert slow.name in told[0]
        assert samsa.metrics()['samsa_connections_let_go_total{why="slow request"}'] == 1


def test_memory_of_a_connection_that_rests_goes_to_those_who_need_it(tight: Samsa) -> None:
    """Some that were large once and are idle now: the next need not wait for them to leave."""
    data = batch(b"x" * LARGE)
    rested = [tight.peer() for _ in range(10)]
    began = time.monotonic()
    for peer in rested:
        error = append(peer, "rest", data).error_code
        assert ErrorCode(error) is ErrorCode.MESSAGE_TOO_LARGE
    took = time.monotonic() - began
    for peer in rested:
        peer.close()
    assert took < 8


def test_metrics_are_prometheus_text_and_their_counters_move(samsa: Samsa, new_name: str) -> None:
    lists = 'samsa_store_calls_total{call="list",store="objects"}'
    # The first upkeep lists what is there. Nothing that follows may.
    assert eventually(lambda: samsa.metrics().get(lists, 0) >= 1)
    before = samsa.metrics()
    with samsa.peer() as peer:
        create(peer, new_name)
        for _ in range(10):
            write(peer, new_name, b"x" * 1_000)
        read(peer, new_name, 0)
        during = samsa.metrics()
    assert end_of_connections(samsa, before)

    def moved(name: str) -> float:
        return during.get(name, 0) - before.get(name, 0)

    assert moved('samsa_requests_total{api="Produce"}') == 10
    assert moved('samsa_requests_total{api="Fetch"}') == 1
    assert moved("samsa_connections_accepted_total") >= 1
    assert moved("samsa_received_bytes_total") > 10_000
    assert moved("samsa_sent_bytes_total") > 10_000
    assert moved('samsa_store_calls_total{call="commit",store="journal"}') == 10
    assert moved(lists) == 0
    assert during["samsa_connections"] >= 1


def end_of_connections(samsa: Samsa, before: dict[str, float]) -> bool:
    return eventually(lambda: samsa.metrics()["samsa_connections"] <= before["samsa_connections"])


def test_a_refused_connection_is_counted(tmp_path: Path) -> None:
    with (
        a_samsa(tmp_path, "--max-connections", "1", "--metrics-port", "0") as samsa,
        samsa.peer() as first,
        samsa.peer() as second,
    ):
        assert versions(first)
        assert second.is_closed()
        assert samsa.metrics()["samsa_connections_refused_total"] == 1
