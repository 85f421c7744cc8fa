"""From the coordinator's refusals to Kafka's error codes: they have the same names."""

from samsa.groups import GroupError
from samsa.ports.bounds import LONGEST_GROUP_ID
from samsa.wire.errors import ErrorCode

UNAVAILABLE = ErrorCode.COORDINATOR_NOT_AVAILABLE
"""Sent while the store does not answer: clients look for the coordinator again, and retry."""


def is_group_id(group_id: str) -> bool:
    return 0 < len(group_id) <= LONGEST_GROUP_ID


def code_of(error: GroupError | None) -> ErrorCode:
    return ErrorCode[error.name] if error else ErrorCode.NONE
