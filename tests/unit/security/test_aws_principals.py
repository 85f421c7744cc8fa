"""Who signed a request: the ARNs that API Gateway tells, as AWS documents them."""

import pytest

from samsa.security.aws_principals import principal_of_arn
from samsa.security.principals import Principal

ACCOUNT = "123456789012"
ROLE = f"User:arn:aws:iam::{ACCOUNT}:role/Reader"


@pytest.mark.parametrize(
    "session", ["orders-1", "gregor@example.com", "i-0123456789abcdef0", "a=b,c+d"]
)
def test_every_session_of_a_role_is_the_role(session):
    arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/Reader/{session}"
    assert str(principal_of_arn(arn)) == ROLE


@pytest.mark.parametrize("partition", ["aws-cn", "aws-us-gov"])
def test_a_role_of_another_partition_is_another_principal(partition):
    arn = f"arn:{partition}:sts::{ACCOUNT}:assumed-role/Reader/s"
    assert principal_of_arn(arn).name == f"arn:{partition}:iam::{ACCOUNT}:role/Reader"


@pytest.mark.parametrize(
    "arn",
    [
        f"arn:aws:iam::{ACCOUNT}:user/gregor",
        f"arn:aws:iam::{ACCOUNT}:user/sales/gregor",
        f"arn:aws:iam::{ACCOUNT}:root",
        f"arn:aws:iam::{ACCOUNT}:role/Reader",
        f"arn:aws:sts::{ACCOUNT}:federated-user/gregor",
    ],
)
def test_others_are_their_arn(arn):
    assert principal_of_arn(arn) == Principal("User", arn)


def test_an_account_with_the_same_role_is_another_principal():
    other = "arn:aws:sts::210987654321:assumed-role/Reader/s"
    assert str(principal_of_arn(other)) != ROLE


@pytest.mark.parametrize(
    "arn",
    [
        "",
        "ANONYMOUS",
        "AIDAEXAMPLE",
        f"arn:aws:sts::{ACCOUNT}:assumed-role/Reader",
        f"arn:aws:sts::{ACCOUNT}:assumed-role/Reader/",
        f"arn:aws:sts::{ACCOUNT}:assumed-role//s",
        f"arn:aws:sts::{ACCOUNT}:assumed-role/Reader/s\n",
        f"arn:aws:iam::{ACCOUNT}:user/",
        f"arn:aws:iam::{ACCOUNT}:user/gregor\n",
        f"arn:aws:iam:::user/{ACCOUNT}",
        f"arn:aws:s3:::{ACCOUNT}",
        f"arn:aws:iam::{ACCOUNT}:group/readers",
        f" arn:aws:iam::{ACCOUNT}:root",
        f"arn:aws:iam::{ACCOUNT}:root/x",
        f"arn:evil:iam::{ACCOUNT}:root",
        f"arn:aws:sts::{ACCOUNT}:assumed-role/Réader/s",
    ],
)
def test_what_is_no_signer_is_no_principal(arn):
    with pytest.raises(ValueError, match="not the ARN"):
        principal_of_arn(arn)
