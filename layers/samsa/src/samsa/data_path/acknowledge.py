"""The answer to a produce request.

Nearly every answer is for a single batch that was stored. Such answers of one partition differ only
in three adjacent numbers. So there is a fast path: the answer is encoded once per partition, by the
message table like every answer, and the bytes before and after the numbers are kept. To build and
encode the same rows every time was a tenth of the broker's work for a small request.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from uuid import UUID

from samsa.broker.work import Work
from samsa.log.admit import Outcome, Refusal
from samsa.log.writer import Appending
from samsa.ports import StorageError, Unavailable, UnknownPartition
from samsa.topics.compacted import WithoutKeys
from samsa.topics.configs import Refused
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import produce as wire

from .appends import Pending, Terms

FIRST_WITH_NUMBERS = 5
"""The first version with all three numbers: offset, append time, log start."""
REMEMBERED = 10_000
_NUMBERS = struct.Struct(">qqq")
_MARKS = (-0x5A01_5A02_5A03_5A04, -0x5A05_5A06_5A07_5A08, -0x5A09_5A0A_5A0B_5A0C)
"""Placeholders for the three numbers. A topic name cannot contain these bytes."""

_REFUSALS = {
    Refusal.OUT_OF_ORDER: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    Refusal.STALE_EPOCH: ErrorCode.INVALID_PRODUCER_EPOCH,
    Refusal.UNKNOWN_PRODUCER: ErrorCode.UNKNOWN_PRODUCER_ID,
    Refusal.TRY_AGAIN: ErrorCode.REQUEST_TIMED_OUT,
    Refusal.ENDED: ErrorCode.INVALID_TXN_STATE,
}


def response(pending: list[Pending]) -> wire.ProduceResponse:
    answers = TopicAnswers()
    for one in pending:
        answers.add(one)
    return wire.RESPONSE(responses=answers.topics)


async def response_in_pieces(pending: list[Pending], work: Work) -> wire.ProduceResponse:
    answers = TopicAnswers()
    async for one in work.pace(pending):
        answers.add(one)
    return wire.RESPONSE(responses=answers.topics)


class TopicAnswers:
    """The answers of one request, by topic."""

    __slots__ = ("_last", "topics")

    def __init__(self) -> None:
        self.topics: list[wire.TopicProduceResponse] = []
        self._last: wire.TopicProduceData | None = None

    def add(self, one: Pending) -> None:
        if one.topic is not self._last:
            self._last = one.topic
            self.topics.append(
                wire.TOPIC_RESPONSE(
                    name=one.topic.name, topic_id=one.topic.topic_id, partition_responses=[]
                )
            )
        self.topics[-1].partition_responses.append(_partition_response(one))


def stored_alone(terms: Terms, pending: list[Pending]) -> bytes | None:
    """The encoded response for a single stored batch; None if there are more or it was refused."""
    if len(pending) != 1 or terms.acks == 0 or terms.version < FIRST_WITH_NUMBERS:
        return None
    topic, number, result, appended_at = pending[0]
    outcome = _outcome(result)
    if isinstance(outcome, Refused):
        return None
    before, after = _around_numbers(terms.version, topic.name, topic.topic_id, number)
    return before + _NUMBERS.pack(outcome.offset, appended_at, outcome.log_start) + after


@lru_cache(REMEMBERED)
def _around_numbers(version: int, name: str, topic_id: UUID, index: int) -> tuple[bytes, bytes]:
    offset, time, log_start = _MARKS
    partition = wire.PARTITION_RESPONSE(
        index=index, base_offset=offset, log_append_time_ms=time, log_start_offset=log_start
    )
    topic = wire.TOPIC_RESPONSE(name=name, topic_id=topic_id, partition_responses=[partition])
    body = wire.RESPONSE.encode_bytes(version, wire.RESPONSE(responses=[topic]))
    before, marks, after = body.partition(_NUMBERS.pack(*_MARKS))
    assert marks, f"Produce v{version} does not have its three numbers side by side"
    return before, after


def _partition_response(one: Pending) -> wire.PartitionProduceResponse:
    outcome = _outcome(one.result)
    if isinstance(outcome, Refused):
        return wire.PARTITION_RESPONSE(
            index=one.number,
            error_code=outcome.code,
            base_offset=-1,
            # Java's producer retries until its timeout if the log start is −1. With any other log
            # start it begins a new epoch.
            log_start_offset=0 if outcome.code is ErrorCode.UNKNOWN_PRODUCER_ID else -1,
            error_message=outcome.message,
            record_errors=[
                wire.RECORD_ERROR(batch_index=at, batch_index_error_message=why)
                for at, why in _refused_records(outcome)
            ],
        )
    return wire.PARTITION_RESPONSE(
        index=one.number,
        base_offset=outcome.offset,
        log_append_time_ms=one.appended_at,
        log_start_offset=outcome.log_start,
    )


def _refused_records(refused: Refused) -> list[tuple[int, str]]:
    return refused.records if isinstance(refused, WithoutKeys) else []


def _outcome(result: Appending | Refused) -> Outcome | Refused:
    if isinstance(result, Refused):
        return result
    if not result.done():
        return Refused(ErrorCode.REQUEST_TIMED_OUT, "the store is slow; the outcome is not known")
    error = result.exception()
    if error is not None:
        return _failure(error)
    outcome = result.result()
    if outcome.refusal is not None:
        return Refused(_REFUSALS[outcome.refusal], outcome.refusal.value)
    return outcome


def _failure(error: BaseException) -> Refused:
    if isinstance(error, UnknownPartition):
        return Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the topic was deleted")
    if isinstance(error, StorageError):
        return Refused(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
    if isinstance(error, Unavailable):
        return Refused(ErrorCode.REQUEST_TIMED_OUT, f"the store did not answer: {error}")
    raise error
