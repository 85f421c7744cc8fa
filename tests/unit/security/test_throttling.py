"""How long clients over their quotas have to wait."""

from samsa.security.quotas import (
    CLIENT_ID,
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
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

NOW_MS = 1_800_000_000_000


def table(parts: dict, **limits: float) -> QuotaTable:
    return QuotaTable({QuotaEntity.of(parts): limits})


def throttling(parts: dict, **limits: float) -> Throttling:
    quotas = table(parts, **limits)
    return Throttling(lambda: quotas)


def test_a_user_shares_one_rate_over_all_its_clients_and_others_have_their_own():
    given = throttling({USER: DEFAULT}, producer_byte_rate=1000)
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 10_000, NOW_MS) == 0
    assert given.record(PRODUCER_BYTE_RATE, "alice", "two", 1000, NOW_MS) == 1000
    assert given.record(PRODUCER_BYTE_RATE, "bob", "one", 10_000, NOW_MS) == 0


def test_without_a_quota_nothing_is_measured():
    given = Throttling(lambda: QuotaTable({}))
    assert not given.limits(PRODUCER_BYTE_RATE)
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 1e12, NOW_MS) == 0
    assert given.most_bytes(PRODUCER_BYTE_RATE, "alice", "one") is None
    assert given.mutate("alice", "one", 1e9, NOW_MS) == 0
    assert given.connect("10.0.0.1", NOW_MS) == 0
    assert not given._rates


def test_a_new_limit_counts_from_the_next_request_on_and_keeps_what_was_measured():
    quotas = table({USER: "alice"}, producer_byte_rate=1000)
    given = Throttling(lambda: quotas)
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 10_000, NOW_MS) == 0
    quotas = table({USER: "alice"}, producer_byte_rate=500)
    assert given.record(PRODUCER_BYTE_RATE, "alice", "one", 0, NOW_MS) == 10_000


def test_what_was_not_sent_is_taken_back():
    given = throttling({USER: "alice"}, consumer_byte_rate=1000)
    assert given.record(CONSUMER_BYTE_RATE, "alice", "one", 20_000, NOW_MS) == 10_000
    given.take_back(CONSUMER_BYTE_RATE, "alice", "one", 20_000, NOW_MS)
    assert given.record(CONSUMER_BYTE_RATE, "alice", "one", 10_000, NOW_MS) == 0
    assert given.most_bytes(CONSUMER_BYTE_RATE, "alice", "one") == 10_000


def test_requests_are_throttled_for_one_window_at_most():
    given = throttling({CLIENT_ID: "app"}, request_percentage=1)
    assert given.record(REQUEST_PERCENTAGE, "alice", "app", 10_000, NOW_MS) == 1000


def test_a_strict_client_may_go_into_debt_once_and_then_is_refused():
    given = throttling({USER: "alice"}, controller_mutation_rate=5)
    assert given.mutate("alice", "x", 100, NOW_MS) == 0
    assert given.mutate("alice", "x", 1, NOW_MS) == 9000
    assert given.mutate("alice", "x", 1, NOW_MS) == 9000
    assert given.mutate("alice", "x", 1, NOW_MS + 9000) == 0


def test_an_older_client_is_never_refused_and_waits_the_longer():
    given = throttling({USER: "alice"}, controller_mutation_rate=5)
    assert given.mutate("alice", "x", 50, NOW_MS, strict=False) == 0
    assert given.mutate("alice", "x", 10, NOW_MS, strict=False) == 1000
    assert given.mutate("alice", "x", 10, NOW_MS, strict=False) == 3000


def test_connections_over_the_limit_of_an_address_wait_and_are_not_counted():
    quotas = table({IP: DEFAULT}, connection_creation_rate=1)
    given = Throttling(lambda: quotas)
    waits = [given.connect("10.0.0.1", NOW_MS) for _ in range(30)]
    assert waits[:10] == [0] * 10
    assert all(wait == 1000 for wait in waits[10:])
    assert given.connect("10.0.0.2", NOW_MS) == 0
    quotas = table({IP: DEFAULT}, connection_creation_rate=2)
    assert given.connect("10.0.0.1", NOW_MS) == 0


def test_made_up_client_ids_take_a_bounded_memory():
    given = throttling({CLIENT_ID: DEFAULT}, producer_byte_rate=1, controller_mutation_rate=1)
    for number in range(MOST_RATES + 50):
        given.record(PRODUCER_BYTE_RATE, "alice", f"app-{number}", 1, NOW_MS)
    assert len(given._rates) == MOST_RATES


def test_the_keys_are_kafkas():
    assert (CONNECTION_CREATION_RATE, CONTROLLER_MUTATION_RATE) == (
        "connection_creation_rate",
        "controller_mutation_rate",
    )
