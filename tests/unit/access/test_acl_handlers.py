"""DescribeAcls, CreateAcls and DeleteAcls: what they answer, and who may ask."""

from pathlib import Path
from typing import Any

import pytest
from unit.access.admins import (
    ALL,
    ALLOW,
    ALTER,
    CLUSTER,
    DENY,
    DESCRIBE,
    GROUP,
    LITERAL,
    MALLORY,
    PREFIXED,
    READ,
    TOPIC,
    Office,
    codes,
    creation,
)

from samsa.security.principals import Principal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import DecodeError, ErrorCode
from samsa.wire.messages import create_acls, delete_acls, describe_acls

ANY, MATCH = 1, 2
ALICE = Principal("User", "alice")
FAILED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def filter_fields(**changed: Any) -> dict[str, Any]:
    every = {
        "resource_type_filter": ANY,
        "resource_name_filter": None,
        "pattern_type_filter": ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
    }
    return every | changed


async def described(office: Office, who: Principal | None = None, **changed: Any) -> Any:
    row = describe_acls.REQUEST(**filter_fields(**changed))
    return await office.ask(ApiKey.DESCRIBE_ACLS, row, *([who] if who else []))


async def names(office: Office, **changed: Any) -> list[tuple[int, int, str, int]]:
    answer = await described(office, **changed)
    assert answer.error_code == ErrorCode.NONE
    return [
        (one.resource_type, one.pattern_type, one.resource_name, len(one.acls))
        for one in answer.resources
    ]


async def deleted(office: Office, *filters: dict[str, Any], who: Any = None) -> list[Any]:
    row = delete_acls.REQUEST(filters=[delete_acls.FILTER(**one) for one in filters])
    asked = await office.ask(ApiKey.DELETE_ACLS, row, *([who] if who else []))
    return asked.filter_results


async def test_what_was_created_is_described_by_pattern_and_in_force_at_once(office: Office):
    results = await office.allow(
        creation(),
        creation(principal="User:bob", permission_type=DENY, host="10.0.0.9"),
        creation("orders", resource_pattern_type=PREFIXED),
        creation("readers", resource_type=GROUP),
    )
    assert codes(results) == [0] * 4
    assert await names(office) == [
        (TOPIC, LITERAL, "orders", 2),
        (TOPIC, PREFIXED, "orders", 1),
        (GROUP, LITERAL, "readers", 1),
    ]
    first = (await described(office)).resources[0].acls
    assert [(acl.principal, acl.host, acl.operation, acl.permission_type) for acl in first] == [
        ("User:alice", "*", READ, ALLOW),
        ("User:bob", "10.0.0.9", READ, DENY),
    ]
    assert office.broker.access_for(ALICE, "10.0.0.1").may(READ, TOPIC, "orders-2")


async def test_creating_an_acl_twice_is_no_error_and_changes_nothing(office: Office):
    assert codes(await office.allow(creation(), creation())) == [0, 0]
    assert codes(await office.allow(creation())) == [0]
    assert await names(office) == [(TOPIC, LITERAL, "orders", 1)]
    assert await office.store.security_version() == 1


BAD = {
    "The only valid name for the CLUSTER resource is kafka-cluster": {"resource_type": CLUSTER},
    "Invalid empty resource name": {"name": ""},
    "Invalid resourceType ANY": {"resource_type": ANY},
    "Invalid patternType ANY": {"resource_pattern_type": ANY},
    "Invalid patternType MATCH": {"resource_pattern_type": MATCH},
    "Invalid operation ANY": {"operation": ANY},
    "Invalid permissionType ANY": {"permission_type": ANY},
    "The names in it are too long.": {"name": "a" * 17_000},
}


@pytest.mark.parametrize("problem", BAD)
async def test_an_acl_that_is_wrong_is_refused_and_its_neighbours_are_not(
    office: Office, problem: str
):
    results = await office.allow(creation("a"), creation(**BAD[problem]), creation("b"))
    assert codes(results) == [0, ErrorCode.INVALID_REQUEST, 0]
    assert results[1].error_message == problem
    assert [name for _, _, name, _ in await names(office)] == ["a", "b"]


async def test_what_a_filter_finds_is_deleted_and_named_in_the_answer(office: Office):
    await office.allow(
        creation("orders"), creation("orders", principal="User:bob"), creation("parcels")
    )
    one, other = await deleted(
        office,
        filter_fields(resource_name_filter="orders"),
        filter_fields(principal_filter="User:alice"),
    )
    assert [(acl.resource_name, acl.principal) for acl in one.matching_acls] == [
        ("orders", "User:alice"),
        ("orders", "User:bob"),
    ]
    assert [acl.resource_name for acl in other.matching_acls] == ["orders", "parcels"]
    assert await names(office) == []
    assert not office.broker.access_for(ALICE, "10.0.0.1").may(READ, TOPIC, "orders")


async def test_a_filter_that_names_everything_deletes_just_that(office: Office):
    await office.allow(creation("orders"), creation("orders", resource_pattern_type=PREFIXED))
    exact = filter_fields(
        resource_type_filter=TOPIC,
        resource_name_filter="orders",
        pattern_type_filter=PREFIXED,
        principal_filter="User:alice",
        host_filter="*",
        operation=READ,
        permission_type=ALLOW,
    )
    for found in (1, 0):
        (result,) = await deleted(office, exact)
        assert len(result.matching_acls) == found
    assert await names(office) == [(TOPIC, LITERAL, "orders", 1)]


async def test_match_finds_every_pattern_that_covers_the_name(office: Office):
    await office.allow(
        creation("*"), creation("ord", resource_pattern_type=PREFIXED), creation("orders"),
        creation("parcels"),
    )  # fmt: skip
    found = await names(
        office,
        resource_type_filter=TOPIC,
        resource_name_filter="orders",
        pattern_type_filter=MATCH,
    )
    assert [name for _, _, name, _ in found] == ["*", "orders", "ord"]


async def test_thousands_of_acls_are_created_described_and_deleted(office: Office):
    results = await office.allow(*(creation(f"topic{number}") for number in range(1_000)))
    assert set(codes(results)) == {0}
    assert len(await names(office)) == 1_000
    (result,) = await deleted(office, filter_fields(principal_filter="User:alice"))
    assert len(result.matching_acls) == 1_000
    assert await names(office) == []


async def test_acls_beyond_the_limit_are_refused_before_anything_is_stored(tmp_path: Path):
    office = Office(tmp_path, max_acls=2)
    results = await office.allow(creation("a"), creation("b"), creation("a"), creation("c"))
    assert codes(results) == [0, 0, 0, ErrorCode.POLICY_VIOLATION]
    assert codes(await office.allow(creation("d"))) == [ErrorCode.POLICY_VIOLATION]
    await deleted(office, filter_fields(resource_name_filter="a"))
    assert codes(await office.allow(creation("d"))) == [0]


async def test_who_may_not_alter_the_cluster_changes_nothing_and_sees_nothing(office: Office):
    await office.allow(creation())
    refused = await office.allow(creation("b"), creation("c"), who=MALLORY)
    assert codes(refused) == [FAILED, FAILED]
    assert codes(await deleted(office, filter_fields(), who=MALLORY)) == [FAILED]
    answer = await described(office, MALLORY)
    assert (answer.error_code, answer.resources) == (FAILED, [])
    assert await names(office) == [(TOPIC, LITERAL, "orders", 1)]


async def test_describe_on_the_cluster_suffices_to_see_and_not_to_change(office: Office):
    on_cluster = {"resource_type": CLUSTER, "principal": str(MALLORY)}
    await office.allow(creation("kafka-cluster", operation=DESCRIBE, **on_cluster))
    assert (await described(office, MALLORY)).error_code == 0
    assert codes(await office.allow(creation(), who=MALLORY)) == [FAILED]
    await office.allow(creation("kafka-cluster", operation=ALTER, **on_cluster))
    assert codes(await office.allow(creation(), who=MALLORY)) == [0]


async def test_while_the_store_is_down_admins_are_told_to_try_again(office: Office):
    office.store.down = {"security", "security_version", "change_security"}
    assert codes(await office.allow(creation())) == [ErrorCode.REQUEST_TIMED_OUT]
    assert codes(await deleted(office, filter_fields())) == [ErrorCode.REQUEST_TIMED_OUT]
    assert (await described(office)).error_code == ErrorCode.REQUEST_TIMED_OUT


@pytest.mark.parametrize("access", ["none", "no ACLs"])
async def test_without_acls_all_three_are_disabled(tmp_path: Path, access: str):
    office = Office(tmp_path, has_acls=False)
    if access == "none":
        office.broker.access = None
    disabled = ErrorCode.SECURITY_DISABLED
    assert codes(await office.allow(creation(), creation())) == [disabled, disabled]
    assert codes(await deleted(office, filter_fields())) == [disabled]
    answer = await described(office)
    assert answer.error_code == disabled
    assert answer.error_message == "No Authorizer is configured on the broker"
    assert office.store.calls == []


UNKNOWN = [0, 99, -1]


@pytest.mark.parametrize("kind", UNKNOWN)
@pytest.mark.parametrize(
    "field", ["resource_type_filter", "pattern_type_filter", "operation", "permission_type"]
)
async def test_a_kind_without_a_meaning_ends_the_connection(office: Office, field: str, kind: int):
    changed = {field: kind}
    with pytest.raises(DecodeError):
        await described(office, **changed)
    with pytest.raises(DecodeError):
        await deleted(office, filter_fields(), filter_fields(**changed))
    of_acl = {
        "resource_type_filter": "resource_type",
        "pattern_type_filter": "resource_pattern_type",
    }
    with pytest.raises(DecodeError):
        await office.allow(creation(), creation(**{of_acl.get(field, field): kind}))
    assert await names(office) == []


async def test_every_acl_that_was_changed_is_one_line_for_the_audit(office: Office):
    await office.allow(creation(), creation(), creation("b"))
    await office.allow(creation())
    await deleted(office, filter_fields(resource_name_filter="b"), filter_fields())
    assert [(change.action, change.subject.rpartition(" ")[2]) for change in office.told] == [
        ("create acl", "orders"),
        ("create acl", "b"),
        ("delete acl", "b"),
        ("delete acl", "orders"),
    ]
    assert str(office.told[0].principal) == "User:boss"


async def test_older_versions_answer_the_same(office: Office):
    row = create_acls.REQUEST(creations=[creation(operation=ALL)])
    assert (await office.ask(ApiKey.CREATE_ACLS, row, version=0)).results[0].error_code == 0
    row = describe_acls.REQUEST(**filter_fields())
    answer = await office.ask(ApiKey.DESCRIBE_ACLS, row, version=0)
    assert answer.resources[0].acls[0].operation == ALL
