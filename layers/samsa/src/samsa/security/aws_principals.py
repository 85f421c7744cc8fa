"""From the IAM identity that signed a request to its principal.

API Gateway says by an ARN who signed a request. A user, the root of an account, or a federated
user is the principal `User:` and that ARN. A session of a role is the role: all sessions of one
role have the same rights. Who assumes a role often chooses the name of the session, so the name
gives none.

A session's ARN has the name of its role, not the role's path: nor has the principal.
"""

import re

from .principals import USER, Principal

_NAME = r"[\w+=,.@-]{1,64}"
_SESSION = re.compile(
    rf"arn:(?P<partition>aws[a-z-]*):sts::(?P<account>[0-9]+):assumed-role/(?P<role>{_NAME})/\S+",
    re.ASCII,
)
_OTHERS = re.compile(
    r"arn:aws[a-z-]*:(?:iam::[0-9]+:(?:root|user/[!-~]+|role/[!-~]+)|sts::[0-9]+:federated-user/[!-~]+)",
    re.ASCII,
)


def principal_of_arn(arn: str) -> Principal:
    """`User:arn:aws:iam::123456789012:role/Reader` for every session of the role. ValueError if it
    is no ARN of an identity that can sign a request."""
    session = _SESSION.fullmatch(arn)
    if session is not None:
        partition, account, role = session.group("partition", "account", "role")
        return Principal(USER, f"arn:{partition}:iam::{account}:role/{role}")
    if _OTHERS.fullmatch(arn) is None:
        raise ValueError("not the ARN of a user, a role or a session")
    return Principal(USER, arn)
