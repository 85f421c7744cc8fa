"""DescribeUserScramCredentials (key 50).

Behaviour: no user has credentials. A request for all users (null or no names) gets an empty list; a
request with names gets RESOURCE_NOT_FOUND for each, as in Kafka.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from samsa.broker.broker import Broker, Context, handles
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_user_scram_credentials import RESPONSE, RESULT

if TYPE_CHECKING:
    from samsa.wire.messages.describe_user_scram_credentials import (
        DescribeUserScramCredentialsRequest,
        DescribeUserScramCredentialsResponse,
        DescribeUserScramCredentialsResult,
    )

UNKNOWN = "Attempt to describe a user credential that does not exist: {}"
TWICE = "Cannot describe SCRAM credentials for the same user twice in a single request: {}"


@handles(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
async def describe_user_scram_credentials(
    request: DescribeUserScramCredentialsRequest, context: Context, broker: Broker
) -> DescribeUserScramCredentialsResponse:
    asked = Counter(user.name for user in request.users or ())
    results = [_result(*one) async for one in broker.work.pace(asked.items())]
    return RESPONSE(error_message="", results=results)


def _result(user: str, count: int) -> DescribeUserScramCredentialsResult:
    if count > 1:
        code, words = ErrorCode.DUPLICATE_RESOURCE, TWICE
    else:
        code, words = ErrorCode.RESOURCE_NOT_FOUND, UNKNOWN
    return RESULT(user=user, error_code=code, error_message=words.format(user))
