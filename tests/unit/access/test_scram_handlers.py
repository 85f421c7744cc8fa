"""AlterUserScramCredentials and DescribeUserScramCredentials: what they answer, and to whom."""

from pathlib import Path
from typing import Any

import pytest
from unit.access.admins import (
    ALTER,
    BOSS,
    CLUSTER,
    DESCRIBE,
    MALLORY,
    Office,
    creation,
)

from samsa.security.principals import Principal
from samsa.security.scram import ScramMechanism, salted_password
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import alter_user_scram_credentials as alter
from samsa.wire.messages import describe_user_scram_credentials as describe

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
FAILED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
SALT = b"0123456789abcdef"
TWICE = "A user credential cannot be altered twice in the same request"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def put(user: str = "alice", mechanism: int = SHA_256, **changed: Any) -> Any:
    given = {"iterations": 4096, "salt": SALT, "salted_password": b"p" * 32}
    return alter.UPSERTION(name=user, mechanism=mechanism, **given | changed)


def drop(user: str = "alice", mechanism: int = SHA_256) -> Any:
    return alter.DELETION(name=user, mechanism=mechanism)


async def altered(
    office: Office, *changes: Any, who: Principal = BOSS
) -> dict[str, tuple[int, str | None]]:
    row = alter.REQUEST(
        deletions=[one for one in changes if not hasattr(one, "salt")],
        upsertions=[one for one in changes if hasattr(one, "salt")],
    )
    answer = await office.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, row, who)
    return {one.user: (one.error_code, one.error_message) for one in answer.results}


async def described(office: Office, *users: str, who: Principal = BOSS) -> Any:
    row = describe.REQUEST(users=[describe.USER(name=user) for user in users] or None)
    return await office.ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, row, who)


async def known(office: Office, *users: str) -> dict[str, list[tuple[int, int]]]:
    return {
        one.user: [(info.mechanism, info.iterations) for info in one.credential_infos]
        for one in (await described(office, *users)).results
    }


async def test_a_password_that_a_client_has_salted_fits_the_credential_at_once(office: Office):
    salted = salted_password("s3cret", SALT, 8192, SHA_512)
    change = put(mechanism=SHA_512, iterations=8192, salted_password=salted)
    assert await altered(office, change) == {"alice": (0, None)}
    credential = office.broker.access.credential(SHA_512, "alice")
    assert credential.fits("s3cret")
    assert not credential.fits("secret")
    assert office.broker.access.credential(SHA_256, "alice") is None


async def test_users_are_described_by_mechanism_and_iterations_alone(office: Office):
    await altered(office, put("bob"), put())
    await altered(office, put(mechanism=SHA_512, iterations=16384))
    assert await known(office) == {"alice": [(1, 4096), (2, 16384)], "bob": [(1, 4096)]}
    assert await known(office, "bob") == {"bob": [(1, 4096)]}


async def test_unknown_users_and_those_named_twice_have_errors_of_their_own(office: Office):
    await altered(office, put())
    found = {one.user: one for one in (await described(office, "bob", "alice", "alice")).results}
    assert found["bob"].error_code == ErrorCode.RESOURCE_NOT_FOUND
    assert found["alice"].error_code == ErrorCode.DUPLICATE_RESOURCE


async def test_a_mechanism_is_deleted_on_its_own(office: Office):
    await altered(office, put())
    await altered(office, put(mechanism=SHA_512))
    assert await altered(office, drop()) == {"alice": (0, None)}
    assert await known(office) == {"alice": [(2, 4096)]}
    missing = (
        ErrorCode.RESOURCE_NOT_FOUND,
        "Attempt to delete a user credential that does not exist",
    )
    assert await altered(office, drop()) == {"alice": missing}


BAD = {
    "Username must not be empty": (put(""), ErrorCode.UNACCEPTABLE_CREDENTIAL),
    "Unknown SCRAM mechanism": (put(mechanism=3), ErrorCode.UNSUPPORTED_SASL_MECHANISM),
    "Too few iterations": (put(iterations=4095), ErrorCode.UNACCEPTABLE_CREDENTIAL),
    "Too many iterations": (put(iterations=16385), ErrorCode.UNACCEPTABLE_CREDENTIAL),
    "The salt and the salted password must not be empty": (
        put(salted_password=b""),
        ErrorCode.UNACCEPTABLE_CREDENTIAL,
    ),
    "The names in it are too long.": (put(salt=b"s" * 17_000), ErrorCode.INVALID_REQUEST),
}


@pytest.mark.parametrize("problem", BAD)
async def test_a_credential_that_is_wrong_is_refused_and_its_neighbours_are_not(
    office: Office, problem: str
):
    change, code = BAD[problem]
    assert await altered(office, put("bob"), change) == {
        "bob": (0, None),
        change.name: (code, problem),
    }
    assert await known(office) == {"bob": [(1, 4096)]}


async def test_a_user_that_appears_twice_is_left_as_it_was(office: Office):
    await altered(office, put("bob"))
    done = await altered(office, put(), put(mechanism=SHA_512), drop("bob"), put("bob"))
    duplicate = (ErrorCode.DUPLICATE_RESOURCE, TWICE)
    assert done == {"alice": duplicate, "bob": duplicate}
    assert await known(office) == {"bob": [(1, 4096)]}


async def test_the_first_problem_of_a_user_is_the_one_that_is_told(office: Office):
    done = await altered(office, drop(), put())
    assert done["alice"][0] == ErrorCode.RESOURCE_NOT_FOUND
    assert await known(office) == {}


async def test_credentials_beyond_the_limit_are_refused(tmp_path: Path):
    office = Office(tmp_path, max_credentials=1)
    done = await altered(office, put(), put("bob"))
    assert [done[user][0] for user in ("alice", "bob")] == [0, ErrorCode.POLICY_VIOLATION]
    assert (await altered(office, put(iterations=5000)))["alice"][0] == 0
    done = await altered(office, drop(), put("bob"))
    assert {code for code, _ in done.values()} == {0}


async def test_who_may_not_alter_the_cluster_changes_nothing_and_sees_nothing(office: Office):
    await altered(office, put())
    refused = (FAILED, "Cluster authorization failed.")
    done = await altered(office, put("mallory"), drop(), put("mallory"), who=MALLORY)
    assert done == {"alice": refused, "mallory": refused}
    answer = await described(office, who=MALLORY)
    assert (answer.error_code, answer.results) == (FAILED, [])
    on_cluster = {"resource_type": CLUSTER, "principal": str(MALLORY)}
    await office.allow(creation("kafka-cluster", operation=DESCRIBE, **on_cluster))
    assert (await described(office, who=MALLORY)).error_code == 0
    assert (await altered(office, drop(), who=MALLORY))["alice"] == refused
    await office.allow(creation("kafka-cluster", operation=ALTER, **on_cluster))
    assert (await altered(office, drop(), who=MALLORY))["alice"] == (0, None)


async def test_while_the_store_is_down_admins_are_told_to_try_again(office: Office):
    office.store.down = {"security", "security_version"}
    assert (await altered(office, put()))["alice"][0] == ErrorCode.REQUEST_TIMED_OUT
    assert (await described(office)).error_code == ErrorCode.REQUEST_TIMED_OUT


async def test_credentials_are_kept_on_a_broker_without_security(office: Office):
    office.broker.access = None
    assert await altered(office, put()) == {"alice": (0, None)}
    assert await known(office) == {"alice": [(1, 4096)]}


async def test_the_audit_is_told_of_users_and_of_no_secret(office: Office):
    await altered(office, put(), drop("bob"))
    assert [(change.action, change.subject) for change in office.told] == [
        ("alter credential", "alice")
    ]
