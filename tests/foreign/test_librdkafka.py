"""librdkafka's own tests of ACLs, of SCRAM credentials, and of logins that end."""

from pathlib import Path

import pytest
from foreign import librdkafka
from foreign.secured import PASSWORD, USER, SecuredBroker, a_secured_broker

PASSED = ["PASSED", "exit 0"]
BY_BOTH_CLIENTS = 2
"""By a producer's handle and by a consumer's."""
LOGGED_IN_FOR_MS = 2_000

pytestmark = pytest.mark.waits


def login(broker: SecuredBroker) -> dict[str, str]:
    return {
        "bootstrap.servers": f"127.0.0.1:{broker.ports['SASL_PLAINTEXT']}",
        "security.protocol": "sasl_plaintext",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": USER,
        "sasl.password": PASSWORD,
    }


@pytest.mark.parametrize(
    ("part", "verdicts"),
    [
        ("CreateAcls", ["CreateAcls PASS"] * 2 * BY_BOTH_CLIENTS),
        ("DescribeAcls", ["DescribeAcls PASS"] * 2 * BY_BOTH_CLIENTS),
        ("DeleteAcls", ["DeleteAcls PASS"] * 2 * BY_BOTH_CLIENTS),
        ("UserScramCredentials", ["UserScramCredentials PASS"] * 3 * BY_BOTH_CLIENTS),
        (
            "with_authorized_ops",
            ["DescribeConsumerGroups_with_authorized_ops PASS"] * 2 * BY_BOTH_CLIENTS,
        ),
    ],
)
def test_what_librdkafka_asks_of_acls_and_credentials_is_answered(
    part: str, verdicts: list[str], secured: SecuredBroker, tmp_path: Path
) -> None:
    found, said = librdkafka.run("0081", part, login(secured), tmp_path / "run")
    assert found == [*verdicts, *PASSED], said[-8000:]


def test_no_message_is_lost_when_logins_end(tmp_path: Path) -> None:
    options = ["--sasl-reauthenticate-ms", str(LOGGED_IN_FOR_MS)]
    with a_secured_broker(tmp_path / "broker", *options) as broker:
        found, said = librdkafka.run("0142", "", login(broker), tmp_path / "run")
    without_a_token = ["oauthbearer SKIP"] * 4
    assert found == [
        "consumer PASS", "producer PASS", "txn_producer PASS", "txn_producer PASS",
        *without_a_token, "reauth_failure PASS", *PASSED,
    ], said[-8000:]  # fmt: skip
