"""Errors of DynamoDB and S3, as their protocols name them."""

from collections.abc import Sequence
from typing import Any

Item = dict[str, Any]


class Refused(Exception):
    """DynamoDB's answer to a request that is not carried out."""

    def __init__(self, code: str, message: str, status: int = 400, **more: Any) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.body: Item = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", **more}
        self.body["message"] = message


def invalid(message: str) -> Refused:
    return Refused("ValidationException", message)


def condition_failed(item: Item | None = None) -> Refused:
    refused = Refused("ConditionalCheckFailedException", "The conditional request failed")
    if item:
        refused.body["Item"] = item
    return refused


def cancelled(reasons: Sequence[str]) -> Refused:
    """`reasons`: a code for each part of a transaction; "None" for those that would hold."""
    return Refused(
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons {reasons}",
        CancellationReasons=[{"Code": code} for code in reasons],
    )


class S3Refused(Exception):
    def __init__(self, status: int, code: str, message: str = "") -> None:
        super().__init__(message or code)
        self.status = status
        self.code = code
