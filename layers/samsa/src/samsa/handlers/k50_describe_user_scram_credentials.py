"""DescribeUserScramCredentials (key 50).

Behaviour: the mechanisms and iterations of users' SCRAM credentials, nothing that a password could
be tried against. A request for all users (null or no names) gets those who have a credential; a
user without one gets RESOURCE_NOT_FOUND, and one that is named twice DUPLICATE_RESOURCE, as in
Kafka. Needs DESCRIBE on the cluster.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from samsa.access.admin import TIMED_OUT, raise_unless_may_cluster
from samsa.access.contents import Contents
from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_user_scram_credentials as wire

UNKNOWN = "Attempt to describe a user credential that does not exist: {}"
TWICE = "Cannot describe SCRAM credentials for the same user twice in a single request: {}"


@handles(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
async def describe_user_scram_credentials(
    request: wire.DescribeUserScramCredentialsRequest, context: Context, broker: Broker
) -> wire.DescribeUserScramCredentialsResponse:
    try:
        raise_unless_may_cluster(context, Operation.DESCRIBE)
        contents = await broker.stored_access.current()
    except Refused as refused:
        return wire.RESPONSE(error_code=refused.code, error_message=refused.message)
    except Unavailable:
        return wire.RESPONSE(error_code=ErrorCode.REQUEST_TIMED_OUT, error_message=TIMED_OUT)
    known = await _by_user(contents, broker)
    asked = Counter([user.name for user in request.users or ()] or sorted(known))
    results = [
        _result(user, count, known.get(user, []))
        async for user, count in broker.work.pace(asked.items())
    ]
    return wire.RESPONSE(error_message="", results=results)


async def _by_user(contents: Contents, broker: Broker) -> dict[str, list[wire.CredentialInfo]]:
    found: dict[str, list[wire.CredentialInfo]] = defaultdict(list)
    async for (user, mechanism), credential in broker.work.pace(contents.credentials.items()):
        found[user].append(wire.CREDENTIAL(mechanism=mechanism, iterations=credential.iterations))
    return {user: sorted(some, key=_mechanism) for user, some in found.items()}


def _mechanism(info: wire.CredentialInfo) -> int:
    return info.mechanism


def _result(
    user: str, count: int, infos: list[wire.CredentialInfo]
) -> wire.DescribeUserScramCredentialsResult:
    if count > 1:
        code, words = ErrorCode.DUPLICATE_RESOURCE, TWICE
    elif not infos:
        code, words = ErrorCode.RESOURCE_NOT_FOUND, UNKNOWN
    else:
        return wire.RESULT(user=user, error_message="", credential_infos=infos)
    return wire.RESULT(user=user, error_code=code, error_message=words.format(user))
