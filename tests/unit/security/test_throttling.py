"""How long clients over their quotas have to wait."""

import hypothesis
import pytest
from hypothesis import strategies as st
from unit.security.given import PATIENT

from samsa.security.quotas import (
    CLIENT_ID,
    CONNECTION_CREATION_RATE,
    CONTROLLER_MUTATION_RATE,
    DEFAULT,
    IP,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    USER,
    QuotaEntity,
    QuotaTable,
)
from samsa.security.throttling import MOST_RATES, Throttling

NOW_MS = 1_800_000_000


class Time:
    def __init__(self) -> None:
        self.now_ms = NOW_MS

    def __call__(self) -> int:
        return self.now_ms


def table(parts: dict, **limits: float) -> QuotaTable:
    return QuotaTable({QuotaEntity.of(parts): limits})


def throttling(parts: dict, time: Time | None = None, **limits: float) -> Throttling:
    quotas = table(parts, **limits)
    return Throttling(lambda: quotas, time or Time())


def test_a_user_shares_one_rate_over_all_its_clients_and_others_have_their_own():
    given = throttling({USER: DEFAULT}, producer_byte_rate=1000)
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 10_000) == 0
    assert given.record(PRODUCER_BYTE_RATE, "alice", "two", 1000) == 1000
    assert given.record(PRODUCER_BYTE_RATE, "bob", "one", 10_000) == 0


def test_without_a_quota_nothing_is_measured():
    given = Throttling(lambda: QuotaTable({}), Time())
    assert not given.limits(PRODUCER_BYTE_RATE)
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 1e12) == 0
    assert given.record_fetch("alice", "one", 10**12) == 0
    assert given.most_bytes("alice", "one") is None
    given.record_mutation("alice", "one", 10**9)
    assert given.mutation_throttle_ms("alice", "one") == 0
    assert given.connect("10.0.0.1") == 0
    assert len(given) == 0


def test_a_new_limit_counts_from_the_next_request_on_and_keeps_what_was_measured():
    quotas = table({USER: "alice"}, producer_byte_rate=1000)
    given = Throttling(lambda: quotas, Time())
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 10_000) == 0
    quotas = table({USER: "alice"}, producer_byte_rate=500)
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 0) == 10_000


def test_a_fetch_that_is_throttled_is_not_counted():
    given = throttling({USER: "alice"}, consumer_byte_rate=1000)
    assert given.record_fetch("alice", "one", 1000) == 0
    for _ in range(3):
        assert given.record_fetch("alice", "one", 20_000) == 11_000
    assert given.record_fetch("alice", "one", 9000) == 0
    assert given.record_fetch("alice", "one", 1000) == 1000


def test_a_batch_larger_than_a_whole_window_is_read_after_an_idle_time():
    time = Time()
    given = throttling({USER: "alice"}, time, consumer_byte_rate=1)
    assert given.record_fetch("alice", "one", 1_000_000) == 0
    assert given.record_fetch("alice", "one", 1) > 900_000
    time.now_ms += 12_000
    assert given.record_fetch("alice", "one", 1_000_000) == 0


@pytest.mark.parametrize(
    ("limit", "most"), [(1000, 10_000), (0.05, 1), (2.0**62, 10 * 2**62)], ids=str
)
def test_a_fetch_may_ask_for_ten_seconds_of_its_quota_and_for_one_byte_at_least(limit, most):
    given = throttling({USER: "alice"}, consumer_byte_rate=limit)
    assert given.most_bytes("alice", "one") == most
    assert given.most_bytes("bob", "one") is None


def test_requests_are_throttled_for_one_window_at_most():
    given = throttling({CLIENT_ID: "app"}, request_percentage=1)
    assert given.record(REQUEST_PERCENTAGE, "alice", "app", 10_000) == 1000


def test_mutations_may_go_into_debt_once_and_wait_until_it_is_paid():
    time = Time()
    given = throttling({USER: "alice"}, time, controller_mutation_rate=5)
    assert given.mutation_throttle_ms("alice", "x") == 0
    given.record_mutation("alice", "x", 100)
    assert given.mutation_throttle_ms("alice", "x") == 9000
    time.now_ms += 8_999
    assert given.mutation_throttle_ms("alice", "x") == 1
    time.now_ms += 1
    assert given.mutation_throttle_ms("alice", "x") == 0
    assert given.mutation_throttle_ms("bob", "x") == 0


def test_connections_over_the_limit_of_an_address_wait_and_are_not_counted():
    quotas = table({IP: DEFAULT}, connection_creation_rate=1)
    given = Throttling(lambda: quotas, Time())
    waits = [given.connect("10.0.0.1") for _ in range(30)]
    assert waits[:10] == [0] * 10
    assert all(wait == 1000 for wait in waits[10:])
    assert given.connect("10.0.0.2") == 0
    quotas = table({IP: DEFAULT}, connection_creation_rate=2)
    assert given.connect("10.0.0.1") == 0


def test_made_up_client_ids_take_a_bounded_memory():
    quotas = table({CLIENT_ID: DEFAULT}, producer_byte_rate=1, controller_mutation_rate=1)
    given = Throttling(lambda: quotas, Time())
    for number in range(3 * MOST_RATES):
        given.record(PRODUCER_BYTE_RATE, "alice", f"app-{number}", 1)
        given.record_mutation("alice", f"app-{number}", 1)
    assert len(given) == 2 * MOST_RATES


def test_rates_of_idle_clients_go_when_others_come_and_those_in_use_stay():
    time = Time()
    given = throttling({CLIENT_ID: DEFAULT}, time, producer_byte_rate=1000)
    for number in range(300):
        given.record(PRODUCER_BYTE_RATE, "alice", f"idle-{number}", 1)
    given.record(PRODUCER_BYTE_RATE, "alice", "busy", 20_000)
    time.now_ms += 5_000
    given.record(PRODUCER_BYTE_RATE, "alice", "busy", 0)
    time.now_ms += 7_000
    for number in range(100):
        given.record(PRODUCER_BYTE_RATE, "alice", f"new-{number}", 1)
    assert len(given) == 101
    assert given.record(PRODUCER_BYTE_RATE, "alice", "new-0", 11_000) > 0


def test_a_debt_of_mutations_is_not_forgotten_as_idle():
    time = Time()
    given = throttling({CLIENT_ID: DEFAULT}, time, controller_mutation_rate=1)
    given.record_mutation("alice", "in debt", 1000)
    time.now_ms += 60_000
    given.record_mutation("alice", "other", 1)
    assert given.mutation_throttle_ms("alice", "in debt") > 900_000


@pytest.mark.parametrize("processes", [0, 1, 2, 7])
def test_each_process_grants_its_share_as_processes_come_and_go(processes):
    quotas = QuotaTable(
        {
            QuotaEntity.of({USER: "alice"}): {
                "producer_byte_rate": 7000.0,
                "consumer_byte_rate": 7000.0,
                "controller_mutation_rate": 7.0,
            },
            QuotaEntity.of({IP: DEFAULT}): {CONNECTION_CREATION_RATE: 7.0},
        }
    )
    count = 1
    given = Throttling(lambda: quotas, Time(), lambda: count)
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 70_000) == 0
    count = processes
    share = 7 / max(1, processes)
    waits = 10_000 * (7 / share - 1)
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 0) == pytest.approx(waits, abs=1)
    assert given.most_bytes("alice", "one") == int(10_000 * share)
    given.record_mutation("alice", "one", 70)
    owed = max(0, 70 - 11 * share)
    assert given.mutation_throttle_ms("alice", "one") == pytest.approx(owed / share * 1000, abs=1)
    allowed = sum(given.connect("10.0.0.1") == 0 for _ in range(200))
    assert allowed == int(10 * share + 1e-9)


def test_what_was_measured_is_forgotten_with_the_last_quota():
    given = throttling({USER: "alice"}, producer_byte_rate=1, controller_mutation_rate=1)
    given.record(PRODUCER_BYTE_RATE, "alice", "one", 1e9)
    given.record_mutation("alice", "one", 1000)
    given.forget()
    assert len(given) == 0
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 1) == 0
    assert given.mutation_throttle_ms("alice", "one") == 0


@PATIENT
@hypothesis.given(
    st.lists(st.tuples(st.integers(0, 30_000), st.integers(0, 3_000)), min_size=1, max_size=80),
    st.integers(1, 5_000),
)
def test_a_producer_that_waits_as_told_has_no_more_than_its_quota(steps, limit):
    """Over any time: a window's burst, the request that went over it, and twice the quota. Twice,
    as in Kafka: after eleven silent seconds nothing is left of a burst, and there may be another.
    """
    time = Time()
    given = throttling({USER: "alice"}, time, producer_byte_rate=limit)
    sent, largest = 0, 0
    for size, pause_ms in steps:
        wait_ms = given.record(PRODUCER_BYTE_RATE, "alice", "one", size)
        sent, largest = sent + size, max(largest, size)
        elapsed_s = (time.now_ms - NOW_MS) / 1000
        assert sent <= limit * (2 * elapsed_s + 11) + largest
        time.now_ms += wait_ms + pause_ms


@PATIENT
@hypothesis.given(
    st.lists(st.tuples(st.integers(1, 30_000), st.integers(0, 3_000)), min_size=1, max_size=80),
    st.integers(1, 5_000),
)
def test_a_consumer_that_waits_as_told_gets_its_data_and_no_more_than_its_quota(steps, limit):
    time = Time()
    given = throttling({USER: "alice"}, time, consumer_byte_rate=limit)
    got, largest = 0, 0
    for size, pause_ms in steps:
        tries = 0
        while wait_ms := given.record_fetch("alice", "one", size):
            time.now_ms += wait_ms
            tries += 1
            assert tries <= 120, "it is never served"
        got, largest = got + size, max(largest, size)
        elapsed_s = (time.now_ms - NOW_MS) / 1000
        assert got <= limit * (2 * elapsed_s + 11) + largest
        time.now_ms += pause_ms


def test_the_keys_are_kafkas():
    assert (CONNECTION_CREATION_RATE, CONTROLLER_MUTATION_RATE) == (
        "connection_creation_rate",
        "controller_mutation_rate",
    )


def test_long_client_ids_are_told_apart_and_kept_in_little_memory():
    given = throttling({CLIENT_ID: DEFAULT}, producer_byte_rate=1000)
    long = "x" * 32_000
    given.record(PRODUCER_BYTE_RATE, "alice", long, 20_000)
    assert given.record(PRODUCER_BYTE_RATE, "alice", long + "y", 1000) == 0
    assert given.record(PRODUCER_BYTE_RATE, "alice", long, 1000) > 0
    assert all(len(part) < 300 for place in given._rates for part in place)


@pytest.mark.parametrize("key", [PRODUCER_BYTE_RATE, REQUEST_PERCENTAGE])
def test_the_smallest_quota_of_all_can_be_shared_by_processes(key: str):
    quotas = table({USER: DEFAULT}, **{key: 5e-324, CONTROLLER_MUTATION_RATE: 5e-324})
    given = Throttling(lambda: quotas, Time(), processes=lambda: 2)
    assert given.record(key, "alice", "one", 1) > 0
    given.record_mutation("alice", "one", 1)
    assert given.mutation_throttle_ms("alice", "one") > 0
