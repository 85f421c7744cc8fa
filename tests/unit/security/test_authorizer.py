"""Who may do what: as StandardAuthorizer says, and as a slow reading of its rules says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.security.given import ALICE, HOST, NAMES, PATIENT, REAL_OPERATIONS, acl, acl_of, acls
from unit.security.kafka import answers

from samsa.security.acls import Acl
from samsa.security.authorizer import Authorizer, Reason
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa.security.principals import Principal, canonical_host

ROOT = frozenset({"User:root"})
TOPIC = ResourceType.TOPIC


def worlds():
    for world in answers("authorizer"):
        entries = [acl_of(row) for row in world["acls"]]
        yield world, Authorizer(entries, ROOT, world["allow_if_no_acl"])


def test_every_decision_is_that_of_kafkas_authorizer():
    wrong = []
    for world, authorizer in worlds():
        for who, host, operation, kind, name, may in world["questions"]:
            decision = authorizer.authorize(
                Principal.of(who), host, Operation(operation), ResourceType(kind), name
            )
            if decision.allowed is not may:
                wrong.append((world["acls"], who, host, operation, kind, name, decision))
    assert not wrong


def test_whether_anything_is_allowed_is_answered_as_by_kafka():
    wrong = []
    for world, authorizer in worlds():
        for who, host, operation, kind, may in world["any"]:
            any_of = authorizer.authorize_any(
                Principal.of(who), host, Operation(operation), ResourceType(kind)
            )
            if any_of is not may:
                wrong.append((world["acls"], who, host, operation, kind))
    assert not wrong


def slowly(entries: list[Acl], who, host, operation, kind, name, allow_if_no_acl) -> bool:
    """Kafka's rules, read one after the other."""
    covering = [
        entry
        for entry in entries
        if entry.resource_type == kind
        and (
            (entry.pattern_type == PatternType.LITERAL and entry.name in ("*", name))
            or (entry.pattern_type == PatternType.PREFIXED and name.startswith(entry.name))
        )
    ]
    for_client = [
        entry
        for entry in covering
        if entry.principal in ("User:*", str(who)) and entry.host in ("*", host)
    ]
    implied = {
        Operation.DESCRIBE: {Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER},
        Operation.DESCRIBE_CONFIGS: {Operation.ALTER_CONFIGS},
    }.get(operation, set())
    own = {operation, Operation.ALL}
    denied = [e for e in for_client if e.permission == Permission.DENY and e.operation in own]
    allowed = [
        e for e in for_client if e.permission == Permission.ALLOW and e.operation in own | implied
    ]
    if denied:
        return False
    return bool(allowed) or (allow_if_no_acl and not covering)


@PATIENT
@given(
    st.lists(acls, max_size=12),
    st.sampled_from((ALICE, Principal("User", "bob"), Principal("Group", "alice"))),
    st.sampled_from(("10.0.0.1", "10.0.0.2")),
    st.sampled_from(REAL_OPERATIONS),
    st.sampled_from((ResourceType.TOPIC, ResourceType.GROUP)),
    st.sampled_from((*NAMES, "", "zz")),
    st.booleans(),
)
def test_the_index_answers_as_a_slow_reading(entries, who, host, operation, kind, name, default):
    authorizer = Authorizer(entries, ROOT, default)
    decision = authorizer.authorize(who, host, operation, kind, name)
    assert decision.allowed is slowly(entries, who, host, operation, kind, name, default)
    if decision.acl is not None:
        assert decision.acl in entries
        assert decision.acl.affects(name)
        assert (decision.acl.permission is Permission.ALLOW) is decision.allowed


def test_a_decision_says_why():
    entry = acl()
    authorizer = Authorizer([entry], ROOT)
    assert authorizer.authorize(ALICE, HOST, Operation.READ, TOPIC, "orders").acl == entry
    denied = authorizer.authorize(ALICE, HOST, Operation.WRITE, TOPIC, "orders")
    assert denied.reason is Reason.DEFAULT
    root = Principal("User", "root")
    assert authorizer.authorize(root, HOST, Operation.WRITE, TOPIC, "x").reason is Reason.SUPER_USER
    open_by_default = Authorizer([entry], ROOT, allow_if_no_acl=True)
    assert (
        open_by_default.authorize(ALICE, HOST, Operation.WRITE, TOPIC, "x").reason is Reason.NO_ACL
    )
    assert str(denied) == "denied: no ACL allows it"


def test_a_denied_prefix_outweighs_what_it_covers_and_not_more():
    prefixed = PatternType.PREFIXED
    denied = acl("ab", permission=Permission.DENY, pattern=prefixed)
    for allowed, any_left in (
        (acl("ab"), False),
        (acl("abc"), False),
        (acl("ab", pattern=prefixed), False),
        (acl("abc", pattern=prefixed), False),
        (acl("a"), True),
        (acl("a", pattern=prefixed), True),
    ):
        authorizer = Authorizer([denied, allowed])
        assert authorizer.authorize_any(ALICE, HOST, Operation.READ, TOPIC) is any_left


def test_all_names_are_more_than_those_that_begin_with_a_star():
    star = acl("*", permission=Permission.DENY, pattern=PatternType.PREFIXED)
    allowed = acl("*", host="10.0.0.2", operation=Operation.ALL)
    hidden = acl("hardcode", permission=Permission.DENY)
    authorizer = Authorizer([star, allowed, hidden])
    assert authorizer.authorize_any(ALICE, "10.0.0.2", Operation.READ, TOPIC)


def test_a_super_user_is_allowed_what_is_denied_to_all():
    authorizer = Authorizer(
        [acl("*", Operation.ALL, Permission.DENY, principal="User:*")], frozenset({"User:alice"})
    )
    assert authorizer.authorize(ALICE, HOST, Operation.READ, TOPIC, "orders").allowed
    assert authorizer.authorize_any(ALICE, HOST, Operation.READ, TOPIC)


def test_an_address_of_ipv6_is_one_address_however_it_is_written():
    authorizer = Authorizer([acl(host="2001:DB8:0:0:0:0:0:1"), acl(host="10.1.1.1")])
    read = Operation.READ
    assert authorizer.authorize(ALICE, "2001:db8::1", read, TOPIC, "orders").allowed
    assert not authorizer.authorize(ALICE, "2001:db8::2", read, TOPIC, "orders").allowed
    assert authorizer.authorize(ALICE, "::ffff:10.1.1.1", read, TOPIC, "orders").allowed
    assert canonical_host("not:an:address") == "not:an:address"


@pytest.mark.parametrize("differ_by", ["name", "host"])
def test_a_question_looks_at_the_entries_that_cover_the_name_and_the_address_only(differ_by):
    looked_at = []

    class Watched(Acl):
        @property
        def host(self):
            looked_at.append(self)
            return super().host

        @property
        def operation(self):
            looked_at.append(self)
            return super().operation

    def entry(number):
        name = f"team-{number:05}-" if differ_by == "name" else "team-"
        host = "*" if differ_by == "name" else f"10.0.{number // 250}.{number % 250}"
        return Watched(TOPIC, PatternType.PREFIXED, name, "User:alice", host,
                       Operation.READ, Permission.ALLOW)  # fmt: skip

    entries = [entry(number) for number in range(10_000)]
    authorizer = Authorizer(entries)
    looked_at.clear()
    name = "team-00077-x"
    assert authorizer.authorize(ALICE, "10.0.0.77", Operation.READ, TOPIC, name).allowed
    assert set(looked_at) == {entries[77]}
