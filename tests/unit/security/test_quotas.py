"""Which quota applies, and which may be set."""

from itertools import product

import pytest

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
    Limit,
    QuotaEntity,
    QuotaTable,
    problem_with_entity,
    problem_with_quota,
)

RATE = PRODUCER_BYTE_RATE
# Kafka's order, from its documentation, with who shares the rate.
PRECEDENCE = [
    ({USER: "alice", CLIENT_ID: "app"}, ("alice", "app")),
    ({USER: "alice", CLIENT_ID: DEFAULT}, ("alice", "app")),
    ({USER: "alice"}, ("alice", "")),
    ({USER: DEFAULT, CLIENT_ID: "app"}, ("alice", "app")),
    ({USER: DEFAULT, CLIENT_ID: DEFAULT}, ("alice", "app")),
    ({USER: DEFAULT}, ("alice", "")),
    ({CLIENT_ID: "app"}, ("", "app")),
    ({CLIENT_ID: DEFAULT}, ("", "app")),
]


def test_the_most_specific_of_all_quotas_applies():
    for chosen in product((False, True), repeat=len(PRECEDENCE)):
        levels = [level for level, taken in enumerate(chosen) if taken]
        table = QuotaTable(
            {QuotaEntity.of(PRECEDENCE[level][0]): {RATE: level + 1.0} for level in levels}
        )
        found = table.limit(RATE, "alice", "app")
        if not levels:
            assert found is None
        else:
            assert found == Limit(RATE, *PRECEDENCE[levels[0]][1], levels[0] + 1.0)


def test_quotas_of_others_and_of_other_keys_do_not_apply():
    table = QuotaTable(
        {
            QuotaEntity.of({USER: "bob"}): {RATE: 1.0},
            QuotaEntity.of({USER: "alice"}): {CONSUMER_BYTE_RATE: 2.0},
            QuotaEntity.of({CLIENT_ID: "other"}): {RATE: 3.0},
        }
    )
    assert table.limit(RATE, "alice", "app") is None
    assert table.limit(CONSUMER_BYTE_RATE, "alice", "app") == (CONSUMER_BYTE_RATE, "alice", "", 2)
    assert table.has(RATE)
    assert not table.has(REQUEST_PERCENTAGE)


def test_a_client_without_an_id_has_only_quotas_of_users():
    table = QuotaTable(
        {
            QuotaEntity.of({USER: "alice", CLIENT_ID: DEFAULT}): {RATE: 1.0},
            QuotaEntity.of({CLIENT_ID: DEFAULT}): {RATE: 2.0},
        }
    )
    assert table.limit(RATE, "alice", "") is None


def test_connections_are_limited_by_the_address_however_it_is_written():
    table = QuotaTable(
        {
            QuotaEntity.of({IP: "2001:DB8:0:0:0:0:0:1"}): {CONNECTION_CREATION_RATE: 5.0},
            QuotaEntity.of({IP: DEFAULT}): {CONNECTION_CREATION_RATE: 9.0},
        }
    )
    assert table.connections_per_second("2001:db8::1") == 5
    assert table.connections_per_second("10.0.0.1") == 9
    assert QuotaTable({}).connections_per_second("10.0.0.1") is None


COMBINED = (
    "Invalid quota entity combination, "
    "IP entity shouldnot be combined with User or ClientId"  # Kafka's slip, word for word.
)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([], "Invalid empty client quota entity"),
        (
            [("user", "a"), ("user", "b")],
            "Invalid client quota entity, duplicate entity entry user",
        ),
        ([("topic", "a")], "Unhandled client quota entity type: topic"),
        ([("client-id", "")], "Empty client-id not supported"),
        ([("ip", "300.1.1.1")], "300.1.1.1 is not a valid IP or resolvable host."),
        (
            [("ip", "10.0.0.1"), ("user", "a")],
            COMBINED,
        ),
        ([("user", DEFAULT), ("client-id", "a")], None),
        ([("ip", DEFAULT)], None),
        ([("ip", "::1")], None),
    ],
)
def test_an_entity_is_refused_with_kafkas_sentence(parts, why):
    assert problem_with_entity(parts) == why


CONNECTIONS = CONNECTION_CREATION_RATE
ALICE, ADDRESS = QuotaEntity.of({USER: "alice"}), QuotaEntity.of({IP: "10.0.0.1"})


@pytest.mark.parametrize(
    ("entity", "key", "value", "why"),
    [
        (ALICE, RATE, 1.0, None),
        (ALICE, REQUEST_PERCENTAGE, 0.5, None),
        (ALICE, CONTROLLER_MUTATION_RATE, 0.1, None),
        (ADDRESS, CONNECTION_CREATION_RATE, 2.0, None),
        (ALICE, "x", 1.0, "Invalid configuration key x"),
        (
            ALICE,
            CONNECTION_CREATION_RATE,
            1.0,
            f"Invalid configuration key {CONNECTIONS}",
        ),
        (ADDRESS, RATE, 1.0, "Invalid configuration key producer_byte_rate"),
        (ALICE, RATE, 0.0, "Quota producer_byte_rate must be greater than 0"),
        (ALICE, RATE, -1.0, "Quota producer_byte_rate must be greater than 0"),
        (ALICE, RATE, float("nan"), "Quota producer_byte_rate must be greater than 0"),
        (ALICE, RATE, 1.5, "producer_byte_rate cannot be a fractional value."),
        (ALICE, RATE, 1e30, "Proposed value for producer_byte_rate is too large for a LONG."),
        (
            ADDRESS,
            CONNECTION_CREATION_RATE,
            2.0**31,
            "Proposed value for connection_creation_rate is too large for an INT.",
        ),
        (
            ALICE,
            REQUEST_PERCENTAGE,
            float("inf"),
            "Proposed value for request_percentage is too large for a DOUBLE.",
        ),
    ],
)
def test_a_limit_is_refused_with_kafkas_sentence(entity, key, value, why):
    assert problem_with_quota(entity, key, value) == why
