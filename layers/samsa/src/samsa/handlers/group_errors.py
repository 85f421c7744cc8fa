"""From the coordinator's refusals to Kafka's error codes: they have the same names."""

from samsa.groups import GroupError
from samsa.wire.errors import ErrorCode

UNAVAILABLE = ErrorCode.COORDINATOR_NOT_AVAILABLE
"""While the store does not answer: clients look for the coordinator again, and ask again."""


def code_of(error: GroupError | None) -> ErrorCode:
    return ErrorCode[error.name] if error else ErrorCode.NONE
