"""Turns every exception that stops a request into a problem for its client."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from samsa.log.read import OutOfRange
from samsa.ports import Missing, Unavailable, UnknownPartition
from samsa.records.errors import RecordError
from samsa.topics.configs import Refused
from samsa.wire.errors import ErrorCode

from .problems import Invalid, RequestFailed, answer, of_http, of_kafka

METHOD_NOT_ALLOWED = 405
MOST_ERRORS = 20
"""The most errors in one answer."""


def detail_of(error: Exception) -> str | None:
    """For an answer that has begun already: the sentence about an expected failure; None if it is
    a mistake of ours."""
    if isinstance(error, Refused):
        return error.message
    if isinstance(error, UnknownPartition):
        return "the topic was deleted"
    if isinstance(error, RequestFailed | OutOfRange | RecordError):
        return str(error)
    if isinstance(error, Unavailable | Missing | TimeoutError):
        return str(error) or "the store is slow"
    return None


def add_to(app: FastAPI) -> None:
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(RequestFailed, _failed)
    app.add_exception_handler(OutOfRange, _out_of_range)
    app.add_exception_handler(UnknownPartition, _deleted)
    app.add_exception_handler(RecordError, _bad_records)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UnicodeEncodeError, _no_text)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)
    for error in (Unavailable, Missing, TimeoutError):
        app.add_exception_handler(error, _unavailable)


async def _refused(_: Request, error: Any) -> Response:
    return answer(of_kafka(error.code, error.message))


async def _failed(_: Request, error: Any) -> Response:
    return answer(error.problem)


async def _out_of_range(_: Request, error: Exception) -> Response:
    return answer(of_kafka(ErrorCode.OFFSET_OUT_OF_RANGE, str(error)))


async def _deleted(_: Request, _error: Exception) -> Response:
    return answer(of_kafka(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the topic was deleted"))


async def _bad_records(_: Request, error: Exception) -> Response:
    return answer(of_kafka(ErrorCode.INVALID_RECORD, str(error)))


async def _unavailable(_: Request, error: Exception) -> Response:
    detail = str(error) or "the store is slow"
    return answer(of_kafka(ErrorCode.KAFKA_STORAGE_ERROR, detail))


async def _invalid(_: Request, error: Any) -> Response:
    wrong = [
        Invalid(where=".".join(map(str, each["loc"])), problem=each["msg"])
        for each in error.errors()[:MOST_ERRORS]
    ]
    detail = "; ".join(f"{each.where}: {each.problem}" for each in wrong[:3])
    problem = of_http(422, "Invalid request", detail)
    problem.errors = wrong
    return answer(problem)


async def _no_text(_: Request, _error: Exception) -> Response:
    """JSON can contain half of a surrogate pair, which is no character. Nothing was done yet."""
    return answer(of_http(422, "Invalid request", "the body has text that is not Unicode"))


async def _http(request: Request, error: Any) -> Response:
    headers = dict(error.headers or {})
    if error.status_code == METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(sorted(_methods(request)))
    next_step = "GET /openapi.json lists what can be asked, and how; /docs shows it."
    title = HTTPStatus(error.status_code).phrase
    return answer(of_http(error.status_code, title, str(error.detail), next_step), headers)


def _methods(request: Request) -> set[str]:
    """The methods of all routes at this path: Starlette names only those of the first."""
    found: set[str] = set()
    for route in request.app.state.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods
    return found


async def _unexpected(_: Request, error: Exception) -> Response:
    next_step = "Look into the broker's log, which has the whole story, and report it."
    return answer(of_http(500, "Internal server error", type(error).__name__, next_step))
