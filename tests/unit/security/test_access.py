"""What a handler asks: answers from memory, and who is told."""

import weakref

from unit.security.given import ALICE, HOST, acl

from samsa.security import authorizer as authorizers
from samsa.security.access import MOST_GRANTED, UNLIMITED, Access, Limited, Question
from samsa.security.authorizer import LONGEST_NAME, Authorizer
from samsa.security.kinds import Operation, PatternType, ResourceType

READ, WRITE, TOPIC = Operation.READ, Operation.WRITE, ResourceType.TOPIC


class Counting(Authorizer):
    asked = 0

    def _decide(self, *question):
        self.asked += 1
        return super()._decide(*question)


class Given:
    def __init__(self, *entries) -> None:
        self.authorizer = Counting(entries)
        self.told = []
        self.access: Access = Limited(
            ALICE, HOST, lambda: self.authorizer, lambda *told: self.told.append(told)
        )


def test_the_same_question_is_decided_once():
    given = Given(acl())
    assert all(given.access.may(READ, TOPIC, "orders") for _ in range(5))
    assert not any(given.access.may(WRITE, TOPIC, "orders") for _ in range(5))
    assert given.authorizer.asked == 2


def test_new_entries_are_in_force_with_the_next_question():
    given = Given(acl())
    assert given.access.may(READ, TOPIC, "orders")
    assert given.access.may_on_any(READ, TOPIC)
    given.authorizer = Counting([])
    assert not given.access.may(READ, TOPIC, "orders")
    assert not given.access.may_on_any(READ, TOPIC)
    given.authorizer = Counting([acl()])
    assert given.access.may_on_any(READ, TOPIC)
    assert given.access.may_see(READ, TOPIC, "orders")


def test_a_client_that_asks_nothing_more_keeps_no_old_entries_alive():
    given = Given(acl())
    assert given.access.may(READ, TOPIC, "orders")
    old = weakref.ref(given.authorizer)
    given.authorizer = Counting([acl()])
    assert old() is None


def test_what_old_entries_have_granted_is_asked_again_under_new_ones():
    given = Given(acl(), acl("other"))
    assert given.access.may(READ, TOPIC, "orders")
    assert given.access.may(READ, TOPIC, "other")
    given.authorizer = Counting([acl()])
    assert given.access.may(READ, TOPIC, "orders")
    assert not given.access.may(READ, TOPIC, "other")


def test_what_was_granted_says_nothing_of_another_operation_or_type_of_the_same_name():
    given = Given(acl())
    assert given.access.may(READ, TOPIC, "orders")
    assert not given.access.may(READ, ResourceType.GROUP, "orders")
    assert not given.access.may(WRITE, TOPIC, "orders")
    assert given.access.may(READ, TOPIC, "orders")


def test_each_refusal_is_told_and_what_is_only_left_out_is_not():
    given = Given(acl())
    for _ in range(2):
        given.access.may(WRITE, TOPIC, "orders")
        given.access.may_see(WRITE, TOPIC, "orders")
        given.access.may(READ, TOPIC, "orders")
        given.access.operations((READ, WRITE), TOPIC, "orders")
    given.access.may_on_any(WRITE, TOPIC)
    asked = Question(ALICE, HOST, WRITE, TOPIC, "orders")
    assert [question for question, _ in given.told] == [asked, asked, asked._replace(name="")]
    assert [decision and decision.allowed for _, decision in given.told] == [False, False, None]


def test_operations_are_the_bits_of_those_allowed():
    given = Given(acl())
    possible = (READ, WRITE, Operation.DESCRIBE)
    assert given.access.operations(possible, TOPIC, "orders") == 1 << READ | 1 << Operation.DESCRIBE
    assert UNLIMITED.operations(possible, TOPIC, "orders") == 1 << 3 | 1 << 4 | 1 << 8


def test_clients_of_one_principal_share_what_was_decided():
    given = Given(acl())
    again = Limited(ALICE, HOST, lambda: given.authorizer)
    elsewhere = Limited(ALICE, "10.0.0.2", lambda: given.authorizer)
    for access in (given.access, again, elsewhere, again):
        assert access.may(READ, TOPIC, "orders")
    assert given.authorizer.asked == 2


def test_a_client_that_asks_for_ever_new_names_fills_no_memory(monkeypatch):
    monkeypatch.setattr(authorizers, "MOST_ANSWERS", 50)
    given = Given(acl("t", pattern=PatternType.PREFIXED))
    for number in range(200):
        assert given.access.may(READ, TOPIC, f"t{number}")
    long = "t" * (LONGEST_NAME + 1)
    assert given.access.may(READ, TOPIC, long)
    assert given.access.may(READ, TOPIC, long)
    kept = given.authorizer._decisions
    assert len(kept) == 50
    assert not any(name == long for *_, name in kept)
    assert len(given.access._granted) <= MOST_GRANTED
    assert long not in given.access._granted


def test_a_client_behind_ipv6_that_has_an_ipv4_address_is_at_that_address():
    authorizer = Authorizer([acl(host="10.1.1.1")])
    access = Limited(ALICE, "::ffff:10.1.1.1", lambda: authorizer)
    assert access.host == "10.1.1.1"
    assert access.may(READ, TOPIC, "orders")


def test_without_acls_everything_is_allowed():
    assert not UNLIMITED.is_limited
    assert UNLIMITED.may(READ, TOPIC, "x")
    assert UNLIMITED.may_see(READ, TOPIC, "x")
    assert UNLIMITED.may_on_any(READ, TOPIC)
