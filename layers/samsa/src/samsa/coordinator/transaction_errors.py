"""From the transaction coordinator's answers to Kafka's error codes: they have the same names."""

from samsa.broker.broker import Broker
from samsa.ports import Unavailable
from samsa.ports.bounds import LONGEST_TRANSACTIONAL_ID
from samsa.transactions import Answer, Request
from samsa.wire.errors import ErrorCode

UNAVAILABLE = ErrorCode.COORDINATOR_NOT_AVAILABLE
"""Sent while the store does not answer: clients look for the coordinator again, and retry."""


def is_transactional_id(transactional_id: str) -> bool:
    return 0 < len(transactional_id) <= LONGEST_TRANSACTIONAL_ID


async def ask(
    transactional_id: str, request: Request, broker: Broker
) -> tuple[Answer | None, ErrorCode]:
    """The answer; or None and why not."""
    if not is_transactional_id(transactional_id):
        return None, ErrorCode.INVALID_REQUEST
    try:
        answer = await broker.transactions.ask(transactional_id, request)
    except Unavailable:
        return None, UNAVAILABLE
    if answer.error is not None:
        return None, ErrorCode[answer.error.name]
    return answer, ErrorCode.NONE


def for_old_clients(code: ErrorCode, know_fenced: bool) -> ErrorCode:
    """Older clients do not know PRODUCER_FENCED."""
    if code is ErrorCode.PRODUCER_FENCED and not know_fenced:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
