"""Access control of functions, by their environment."""

import pytest

from samsa.access.rules import rules_of
from samsa.ports import Misconfigured

ROLE = "User:arn:aws:iam::123456789012:role/Admin"


@pytest.mark.parametrize("environment", [{}, {"SAMSA_ACLS": ""}, {"SAMSA_ACLS": "off"}])
def test_without_the_switch_there_are_no_acls(environment):
    assert rules_of({"SAMSA_SUPER_USERS": ROLE, **environment}) is None


@pytest.mark.parametrize("switch", ["on", "ON", " on "])
def test_the_switch_turns_acls_on(switch):
    rules = rules_of({"SAMSA_ACLS": switch})
    assert rules is not None
    assert rules.has_acls
    assert not rules.super_users


def test_super_users_are_separated_by_semicolons():
    rules = rules_of({"SAMSA_ACLS": "on", "SAMSA_SUPER_USERS": f"{ROLE}; User:CN=a,O=b ;"})
    assert rules is not None
    assert rules.super_users == {ROLE, "User:CN=a,O=b"}


@pytest.mark.parametrize("switch", ["true", "yes", "1", "no"])
def test_another_word_is_a_mistake_and_not_an_open_door(switch):
    with pytest.raises(Misconfigured, match="SAMSA_ACLS"):
        rules_of({"SAMSA_ACLS": switch})


def test_a_super_user_without_its_type_is_a_mistake():
    with pytest.raises(Misconfigured, match="SAMSA_SUPER_USERS"):
        rules_of({"SAMSA_ACLS": "on", "SAMSA_SUPER_USERS": "admin"})
