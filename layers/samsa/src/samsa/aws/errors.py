"""What went wrong with a DynamoDB request, in the words of the ports."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from samsa.aws.items import Item
from samsa.ports import Misconfigured, Unavailable

TRANSIENT = frozenset(
    {
        "InternalServerError",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
SET_UP = frozenset(
    {
        "AccessDeniedException",
        "ExpiredTokenException",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "ResourceNotFoundException",
        "UnrecognizedClientException",
    }
)
TRANSIENT_CANCELLATIONS = frozenset(
    {"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"}
)


class ConditionFailed(Exception):
    """The condition of a write did not hold. `old` is the item it was checked against, if any."""

    def __init__(self, old: Item | None = None) -> None:
        super().__init__("condition failed")
        self.old = old


@contextmanager
def named_errors(operation: str) -> Iterator[None]:
    from botocore import exceptions
    from botocore.parsers import ResponseParserError

    try:
        yield
    except exceptions.ClientError as error:
        name = named(operation, error.response)
        if name is None:
            raise
        raise name from error
    except (
        exceptions.ConnectionError,
        exceptions.HTTPClientError,
        exceptions.IncompleteReadError,
        ResponseParserError,
    ) as error:
        raise Unavailable(f"DynamoDB {operation}: {error}") from error
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError) as error:
        raise Misconfigured(f"DynamoDB {operation}: {error}") from error


def named(operation: str, response: dict[str, Any]) -> Exception | None:
    """None for what is neither a failed condition, nor likely to pass, nor a bad set-up: a bug."""
    code = str(response.get("Error", {}).get("Code"))
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    reasons = {str(reason.get("Code")) for reason in response.get("CancellationReasons", [])}
    if code == "ConditionalCheckFailedException":
        return ConditionFailed(response.get("Item"))
    if "ConditionalCheckFailed" in reasons:
        return ConditionFailed()
    if code in TRANSIENT or status >= 500 or reasons & TRANSIENT_CANCELLATIONS:
        return Unavailable(f"DynamoDB {operation}: {code} {status}")
    if code in SET_UP:
        return Misconfigured(f"DynamoDB {operation}: {code}: {response['Error'].get('Message')}")
    return None
