"""AlterClientQuotas and DescribeClientQuotas: what they answer, and who may ask."""

from pathlib import Path
from typing import Any

import pytest
from unit.access.admins import BOSS, CLUSTER, MALLORY, Office, codes, creation

from samsa.security.principals import Principal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import alter_client_quotas as alter
from samsa.wire.messages import describe_client_quotas as describe

EXACT, DEFAULT, SPECIFIED = 0, 1, 2
PRODUCE, CONSUME = "producer_byte_rate", "consumer_byte_rate"
PERCENT, CONNECTS = "request_percentage", "connection_creation_rate"
FAILED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
Entity = dict[str, str | None]
ALICE, APP, ALICES_APP = {"user": "alice"}, {"client-id": "app"}, {"client-id": "app", "user": None}
TEN = {PRODUCE: 10.0}


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def entry(entity: Any, values: Any) -> Any:
    """`values`: pairs of a key and a value, or None to remove it."""
    kinds = entity if isinstance(entity, list) else list(entity.items())
    pairs = values if isinstance(values, list) else list(values.items())
    return alter.ENTRY(
        entity=[alter.ENTITY(entity_type=kind, entity_name=name) for kind, name in kinds],
        ops=[alter.OP(key=key, value=value or 0.0, remove=value is None) for key, value in pairs],
    )


async def altered(
    office: Office, *entries: Any, who: Principal = BOSS, validate_only: bool = False
) -> list[Any]:
    row = alter.REQUEST(entries=list(entries), validate_only=validate_only)
    return (await office.ask(ApiKey.ALTER_CLIENT_QUOTAS, row, who)).entries


async def described(
    office: Office, *components: tuple[str, int, str | None], strict: bool = False
) -> list[tuple[Entity, dict[str, float]]]:
    asked = [
        describe.COMPONENT(entity_type=kind, match_type=how, match=match)
        for kind, how, match in components
    ]
    row = describe.REQUEST(components=asked, strict=strict)
    answer = await office.ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, row)
    assert answer.error_code == 0
    return [
        (
            {part.entity_type: part.entity_name for part in one.entity},
            {value.key: value.value for value in one.values},
        )
        for one in answer.entries
    ]


async def test_what_was_set_is_described_and_in_force_at_once(office: Office):
    done = await altered(
        office, entry(ALICE, {PRODUCE: 10, PERCENT: 12.5}), entry({"ip": "10.0.0.1"}, {CONNECTS: 3})
    )
    assert codes(done) == [0, 0]
    assert [one.error_message for one in done] == [None, None]
    assert await described(office) == [
        ({"ip": "10.0.0.1"}, {CONNECTS: 3.0}),
        (ALICE, {PRODUCE: 10.0, PERCENT: 12.5}),
    ]
    assert {entity.parts for entity in office.broker.access.quotas} == {
        (("user", "alice"),),
        (("ip", "10.0.0.1"),),
    }


async def test_values_are_set_changed_and_removed_one_by_one(office: Office):
    await altered(office, entry(ALICE, {PRODUCE: 10, CONSUME: 20}))
    await altered(office, entry(ALICE, {PRODUCE: 30, CONSUME: None, PERCENT: None}))
    assert await described(office) == [(ALICE, {PRODUCE: 30.0})]
    await altered(office, entry(ALICE, {PRODUCE: None, "made_up": None}))
    assert await described(office) == []


async def test_what_is_set_to_what_it_is_costs_no_write(office: Office):
    await altered(office, entry(ALICE, TEN))
    await altered(office, entry(ALICE, TEN))
    assert await office.store.security_version() == 1


FILTERS = [
    ([], False, [ALICE, APP, ALICES_APP]),
    ([("user", EXACT, "alice")], False, [ALICE]),
    ([("user", EXACT, "bob")], False, []),
    ([("user", DEFAULT, None)], False, [ALICES_APP]),
    ([("user", SPECIFIED, None)], False, [ALICE, ALICES_APP]),
    ([("client-id", SPECIFIED, None)], False, [APP, ALICES_APP]),
    ([("client-id", EXACT, "app")], True, [APP]),
    ([("client-id", EXACT, "app"), ("user", SPECIFIED, None)], True, [ALICES_APP]),
    ([], True, []),
]


@pytest.mark.parametrize(("components", "strict", "found"), FILTERS)
async def test_a_filter_finds_what_it_names(
    office: Office, components: Any, strict: bool, found: list[Entity]
):
    await altered(office, *(entry(entity, TEN) for entity in (ALICE, APP, ALICES_APP)))
    answer = [entity for entity, _ in await described(office, *components, strict=strict)]
    assert sorted(answer, key=repr) == sorted(found, key=repr)


BAD = [
    ({}, TEN, "Invalid empty client quota entity"),
    ({"group": "g"}, TEN, "Unhandled client quota entity type: group"),
    ({"user": ""}, TEN, "Empty user not supported"),
    (
        {"ip": "10.0.0.1", "user": "alice"},
        {CONNECTS: 1},
        "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId",
    ),
    ({"ip": "no address"}, {CONNECTS: 1}, "no address is not a valid IP or resolvable host."),
    (ALICE, {CONNECTS: 1}, "Invalid configuration key connection_creation_rate"),
    ({"ip": None}, TEN, "Invalid configuration key producer_byte_rate"),
    (ALICE, {PRODUCE: -1}, "Quota producer_byte_rate must be greater than 0"),
    (ALICE, {PERCENT: float("nan")}, "Quota request_percentage must be greater than 0"),
    (ALICE, {PRODUCE: 1.5}, "producer_byte_rate cannot be a fractional value."),
    ({"ip": None}, {CONNECTS: 2**31}, f"Proposed value for {CONNECTS} is too large for an INT."),
    (ALICE, {PERCENT: float("inf")}, f"Proposed value for {PERCENT} is too large for a DOUBLE."),
    ({"user": "a" * 17_000}, TEN, "The names in it are too long."),
    (
        ALICE,
        [(PRODUCE, 1), (PRODUCE, 2)],
        "Ignoring duplicate entity ClientQuotaEntity(entries={user=alice})",
    ),
]


@pytest.mark.parametrize(("entity", "values", "problem"), BAD)
async def test_a_wrong_quota_is_refused_and_its_neighbours_are_not(
    office: Office, entity: Entity, values: Any, problem: str
):
    bob = {"user": "bob"}
    done = await altered(office, entry(entity, values), entry(bob, TEN))
    assert codes(done) == [ErrorCode.INVALID_REQUEST, 0]
    assert done[0].error_message == problem
    assert {part.entity_type: part.entity_name for part in done[0].entity} == entity
    assert await described(office) == [(bob, TEN)]


async def test_an_entity_that_is_named_again_is_ignored(office: Office):
    done = await altered(office, entry(ALICE, TEN), entry(ALICE, {PRODUCE: 20}))
    assert codes(done) == [ErrorCode.INVALID_REQUEST]
    assert await described(office) == [(ALICE, TEN)]


async def test_a_type_that_is_named_twice_counts_once(office: Office):
    done = await altered(office, entry([("user", "bob"), ("user", "alice")], TEN))
    assert codes(done) == [0]
    assert await described(office) == [(ALICE, TEN)]


async def test_a_request_that_only_validates_stores_nothing(office: Office):
    bad = entry(ALICE, {PRODUCE: -1})
    done = await altered(office, entry(APP, TEN), bad, validate_only=True)
    assert codes(done) == [0, ErrorCode.INVALID_REQUEST]
    assert await described(office) == []
    assert office.told == []


async def test_quotas_beyond_the_limit_are_refused(tmp_path: Path):
    office = Office(tmp_path, max_quotas=2)
    done = await altered(
        office, entry(ALICE, {PRODUCE: 1, CONSUME: 1}), entry(APP, TEN), entry(ALICES_APP, {})
    )
    assert codes(done) == [0, ErrorCode.POLICY_VIOLATION, 0]
    done = await altered(office, entry(ALICE, {PRODUCE: None}), entry(APP, TEN))
    assert codes(done) == [0, 0]


async def test_who_may_not_alter_the_clusters_configs_changes_nothing(office: Office):
    assert codes(await altered(office, entry(ALICE, TEN), who=MALLORY)) == [FAILED]
    row = describe.REQUEST(components=[])
    answer = await office.ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, row, MALLORY)
    assert (answer.error_code, answer.entries) == (FAILED, None)
    assert await described(office) == []
    on_cluster = {"resource_type": CLUSTER, "principal": str(MALLORY), "operation": 11}
    await office.allow(creation("kafka-cluster", **on_cluster))
    assert codes(await altered(office, entry(ALICE, TEN), who=MALLORY)) == [0]
    answer = await office.ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, row, MALLORY)
    assert answer.error_code == 0, "ALTER_CONFIGS implies DESCRIBE_CONFIGS"


async def test_while_the_store_is_down_admins_are_told_to_try_again(office: Office):
    office.store.down = {"security", "security_version"}
    timed_out = ErrorCode.REQUEST_TIMED_OUT
    assert codes(await altered(office, entry(ALICE, TEN))) == [timed_out]
    answer = await office.ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, describe.REQUEST(components=[]))
    assert answer.error_code == timed_out


async def test_quotas_are_kept_on_a_broker_without_security(office: Office):
    office.broker.access = None
    assert codes(await altered(office, entry(ALICE, TEN))) == [0]
    assert await described(office) == [(ALICE, TEN)]


async def test_every_entity_that_was_changed_is_one_line_for_the_audit(office: Office):
    await altered(office, entry(ALICE, TEN), entry(APP, {PRODUCE: -1}), entry(ALICES_APP, TEN))
    assert [(change.action, change.subject) for change in office.told] == [
        ("alter quota", "user=alice"),
        ("alter quota", "client-id=app, user=<default>"),
    ]
