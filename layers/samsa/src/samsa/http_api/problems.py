"""Refusals as RFC 9457 defines them, each with Kafka's name for it and what to do next."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi.responses import Response
from pydantic import BaseModel, Field

from samsa.wire.errors import ErrorCode

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 1
UNAVAILABLE = 503


class Invalid(BaseModel):
    """One thing that is wrong with a request."""

    where: str = Field(examples=["body.records.0.value"])
    problem: str = Field(examples=["Field required"])


class Problem(BaseModel):
    """Why a request was refused (RFC 9457)."""

    type: str = Field(examples=["urn:samsa:problem:unknown-topic-or-partition"])
    title: str = Field(examples=["Unknown topic or partition"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["there is no topic 'orders'"])
    kafka_error: str | None = Field(
        default=None, description="Kafka's name for it", examples=["UNKNOWN_TOPIC_OR_PARTITION"]
    )
    next_step: str = Field(description="What to do about it", examples=["GET /topics lists them."])
    errors: list[Invalid] = Field(default=[], description="Of a request that is not as described")


class ProblemKind(NamedTuple):
    status: int
    next_step: str


class RequestFailed(Exception):
    """A refusal that Kafka has no error for."""

    def __init__(self, status: int, title: str, detail: str, next_step: str) -> None:
        super().__init__(detail)
        self.problem = Problem(
            type=_urn(title), title=title, status=status, detail=detail, next_step=next_step
        )


_TOPICS = "GET /topics lists the topics that there are, POST /topics makes one."
_ACL = "An administrator may add an ACL for whoever sent this request."
_MEMBERS = "Stop the group's members, wait until GET /groups/{group} shows none, and ask again."
_AGAIN = (
    "Ask again after Retry-After seconds. What was being written may be there already: look first, "
    "if twice is too often."
)
_MEND = "Correct what the detail names and ask again; /docs has examples."
_SMALLER = (
    "Send fewer or smaller records at once, or raise the topic's max.message.bytes with "
    "PATCH /topics/{topic}/configs."
)
KINDS: Mapping[ErrorCode, ProblemKind] = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: ProblemKind(403, _ACL),
    ErrorCode.GROUP_AUTHORIZATION_FAILED: ProblemKind(403, _ACL),
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: ProblemKind(403, _ACL),
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: ProblemKind(403, _ACL),
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ProblemKind(404, _TOPICS),
    ErrorCode.UNKNOWN_TOPIC_ID: ProblemKind(404, _TOPICS),
    ErrorCode.GROUP_ID_NOT_FOUND: ProblemKind(404, "GET /groups lists the groups that there are."),
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: ProblemKind(
        404, "samsa transactions list shows the transactional ids that there are."
    ),
    ErrorCode.TOPIC_ALREADY_EXISTS: ProblemKind(409, "Use it, or choose another name."),
    ErrorCode.NON_EMPTY_GROUP: ProblemKind(409, _MEMBERS),
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: ProblemKind(409, _MEMBERS),
    ErrorCode.UNKNOWN_MEMBER_ID: ProblemKind(409, _MEMBERS),
    ErrorCode.ILLEGAL_GENERATION: ProblemKind(409, _MEMBERS),
    ErrorCode.REBALANCE_IN_PROGRESS: ProblemKind(409, _MEMBERS),
    ErrorCode.MESSAGE_TOO_LARGE: ProblemKind(413, _SMALLER),
    ErrorCode.RECORD_LIST_TOO_LARGE: ProblemKind(413, _SMALLER),
    ErrorCode.OFFSET_OUT_OF_RANGE: ProblemKind(
        416, "Ask for an offset within the log: GET /topics/{topic}/partitions tells its bounds."
    ),
    ErrorCode.REQUEST_TIMED_OUT: ProblemKind(UNAVAILABLE, _AGAIN),
    ErrorCode.KAFKA_STORAGE_ERROR: ProblemKind(UNAVAILABLE, _AGAIN),
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ProblemKind(UNAVAILABLE, _AGAIN),
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ProblemKind(UNAVAILABLE, _AGAIN),
    ErrorCode.NOT_COORDINATOR: ProblemKind(UNAVAILABLE, _AGAIN),
    ErrorCode.LEADER_NOT_AVAILABLE: ProblemKind(UNAVAILABLE, _AGAIN),
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ProblemKind(UNAVAILABLE, _AGAIN),
}
"""An error that is not listed is a mistake of the client: 422."""


def of_kafka(code: ErrorCode, detail: str) -> Problem:
    kind = KINDS.get(code, ProblemKind(422, _MEND))
    return Problem(
        type=_urn(code.name),
        title=code.name.capitalize().replace("_", " "),
        status=kind.status,
        detail=detail,
        kafka_error=code.name,
        next_step=kind.next_step,
    )


def of_http(status: int, title: str, detail: str, next_step: str = _MEND) -> Problem:
    return RequestFailed(status, title, detail, next_step).problem


def answer(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """In ASCII: it may quote text that no encoding can represent."""
    told: dict[str, Any] = problem.model_dump()
    if not problem.errors:
        del told["errors"]
    more = dict(headers or {})
    if problem.status == UNAVAILABLE:
        more["Retry-After"] = str(RETRY_AFTER_S)
    return Response(json.dumps(told), problem.status, more, media_type=MEDIA_TYPE)


def _urn(name: str) -> str:
    return "urn:samsa:problem:" + name.lower().replace("_", "-").replace(" ", "-")
