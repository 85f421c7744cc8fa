"""DescribeUserScramCredentials (key 50).

Behaviour: no user has credentials. All of them (null or no names): an empty list. Named ones:
RESOURCE_NOT_FOUND for each, as in Kafka.
"""

from collections import Counter
from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_user_scram_credentials import RESPONSE, RESULT

from .broker import Broker, Context, handles

UNKNOWN = "Attempt to describe a user credential that does not exist: {}"
TWICE = "Cannot describe SCRAM credentials for the same user twice in a single request: {}"


@handles(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
async def describe_user_scram_credentials(request: Any, context: Context, broker: Broker) -> Any:
    asked = Counter(user.name for user in request.users or ())
    results = [_result(*one) async for one in broker.work.pace(asked.items())]
    return RESPONSE(error_message="", results=results)


def _result(user: str, count: int) -> Any:
    if count > 1:
        code, words = ErrorCode.DUPLICATE_RESOURCE, TWICE
    else:
        code, words = ErrorCode.RESOURCE_NOT_FOUND, UNKNOWN
    return RESULT(user=user, error_code=code, error_message=words.format(user))
