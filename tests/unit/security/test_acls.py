"""Entries, filters, and what may not be created."""

import pytest
from unit.security.given import acl, acl_of
from unit.security.kafka import answers

from samsa.security.acls import AclFilter, has_unknown, problem_with
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType


def test_filters_find_what_kafkas_find():
    wrong = []
    for row in answers("filters"):
        kind, pattern, name, principal, host, operation, permission = row["filter"]
        finds = AclFilter(
            ResourceType(kind), PatternType(pattern), name, principal, host,
            Operation(operation), Permission(permission),
        )  # fmt: skip
        if finds.matches(acl_of(row["acl"])) is not row["matches"]:
            wrong.append(row)
    assert not wrong


def test_a_filter_that_says_nothing_finds_everything():
    assert AclFilter().matches(acl())


REFUSED = {
    "The only valid name for the CLUSTER resource is kafka-cluster": acl(kind=ResourceType.CLUSTER),
    "Invalid empty resource name": acl(name=""),
    "Invalid resourceType ANY": acl(kind=ResourceType.ANY),
    "Invalid resourceType UNKNOWN": acl(kind=ResourceType(99)),
    "Invalid patternType MATCH": acl(pattern=PatternType.MATCH),
    "Invalid patternType ANY": acl(pattern=PatternType.ANY),
    "Invalid operation ANY": acl(operation=Operation.ANY),
    "Invalid operation UNKNOWN": acl(operation=Operation(-4)),
    "Invalid permissionType ANY": acl(permission=Permission.ANY),
    "Could not parse principal from `alice` (no colon is present separating the principal type "
    "from the principal name)": acl(principal="alice"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_an_entry_is_refused_with_kafkas_sentence(why):
    assert problem_with(REFUSED[why]) == why


@pytest.mark.parametrize(
    "entry",
    [
        acl(),
        acl(name="*"),
        acl(pattern=PatternType.PREFIXED),
        acl(kind=ResourceType.CLUSTER, name="kafka-cluster"),
        acl(principal="Group:a:b"),
        acl(operation=Operation.ALL, permission=Permission.DENY),
    ],
)
def test_what_kafka_takes_is_taken(entry):
    assert problem_with(entry) is None


def test_numbers_without_a_meaning_are_unknown():
    assert Operation(16) is Operation.UNKNOWN
    assert ResourceType(-1) is ResourceType.UNKNOWN
    assert has_unknown(acl(operation=Operation(77)))
    assert has_unknown(AclFilter(pattern_type=PatternType(5)))
    assert not has_unknown(AclFilter())
    assert not has_unknown(acl())
