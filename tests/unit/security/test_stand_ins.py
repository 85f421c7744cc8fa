"""Stand-ins look like the credentials that there are."""

import pytest

from samsa.security.scram import ScramCredential, ScramMechanism
from samsa.security.stand_ins import CredentialShape, shapes_of, stand_in

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
NAMES = [f"user-{number}" for number in range(200)]


def credential(salt: bytes, iterations: int, mechanism=SHA_512) -> ScramCredential:
    return ScramCredential(salt, b"stored", b"server", iterations, mechanism)


USERS = [
    ("admin", credential(b"\0" * 16, 8192, SHA_256)),
    ("admin", credential(b"\0" * 16, 8192)),
    ("alice", credential(b"\0" * 24, 4096)),
    ("by-kafka", credential(b"1v2ow7p8yjkqa0s3m5x6z9d4ce", 4096)),
    ("by-librdkafka", credential(b"\0" * 64, 10_000)),
]
SHAPES = shapes_of(USERS)


def seen(sasl_name: str, shapes=SHAPES) -> set[CredentialShape]:
    return {CredentialShape.of(stand_in(name, sasl_name, shapes, b"secret")) for name in NAMES}


@pytest.mark.parametrize("mechanism", [SHA_256, SHA_512])
def test_stand_ins_have_the_salts_and_iterations_that_users_have(mechanism):
    there = {CredentialShape.of(one) for _, one in USERS if one.mechanism is mechanism}
    assert seen(mechanism.sasl_name) == there


def test_stand_ins_for_plain_take_the_work_that_users_take():
    assert seen("PLAIN") == seen("SCRAM-SHA-512")  # all of these users have that one
    only_256 = [("bob", credential(b"\0" * 24, 4096, SHA_256))]
    assert seen("PLAIN", shapes_of(only_256)) == {CredentialShape(SHA_256)}


def test_without_users_stand_ins_are_like_those_that_samsa_makes():
    assert seen("SCRAM-SHA-256", {}) == {CredentialShape(SHA_256, 24, 4096)}
    assert seen("SCRAM-SHA-512", {}) == seen("PLAIN", {}) == {CredentialShape(SHA_512, 24, 4096)}


def test_salts_depend_on_the_secret_the_user_and_the_mechanism():
    def salt(user="a", name="SCRAM-SHA-512", secret=b"one") -> bytes:
        return stand_in(user, name, {}, secret).salt

    assert salt() == salt()
    assert len({salt(), salt(user="b"), salt(name="SCRAM-SHA-256"), salt(secret=b"two")}) == 4


def test_a_user_who_comes_or_goes_changes_few_stand_ins():
    fewer = shapes_of(USERS[:-1])
    for name in NAMES:
        before = stand_in(name, "SCRAM-SHA-512", SHAPES, b"secret")
        after = stand_in(name, "SCRAM-SHA-512", fewer, b"secret")
        assert before == after or before.iterations == 10_000


def test_the_key_of_a_stand_in_is_as_long_as_any():
    for name, size in (("SCRAM-SHA-256", 32), ("SCRAM-SHA-512", 64)):
        made = stand_in("mallory", name, {}, b"secret")
        assert len(made.stored_key) == len(made.server_key) == size
