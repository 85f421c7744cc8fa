"""Converts the errors of DynamoDB requests to the exceptions of the ports."""

from samsa.aws.items import Item
from samsa.ports import Misconfigured, NotDone, Unavailable

THROTTLED = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TransactionConflictException",
    }
)
"""Refused before anything was changed."""
TRANSIENT = frozenset(
    {
        "InternalServerError",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
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


class BadRequest(Exception):
    """Not a failed condition, not transient, not a bad set-up: the request itself is wrong."""

    def __init__(self, operation: str, code: str, message: str) -> None:
        super().__init__(f"DynamoDB {operation}: {code}: {message}")
        self.code = code


def named(operation: str, status: int, answer: Item) -> Exception:
    code = str(answer.get("__type", "")).rpartition("#")[2]
    message = str(answer.get("message") or answer.get("Message") or "")
    reasons = {str(reason.get("Code")) for reason in answer.get("CancellationReasons") or ()}
    if code == "ConditionalCheckFailedException":
        return ConditionFailed(answer.get("Item"))
    if "ConditionalCheckFailed" in reasons:
        return ConditionFailed()
    if code in THROTTLED and status < 500:
        return NotDone(f"DynamoDB {operation}: {code} {status}")
    if code in TRANSIENT or status >= 500 or reasons & TRANSIENT_CANCELLATIONS:
        return Unavailable(f"DynamoDB {operation}: {code} {status}")
    if code in SET_UP:
        return Misconfigured(f"DynamoDB {operation}: {code}: {message}")
    return BadRequest(operation, code or str(status), message)
