"""Requests that change topics by name. Each topic may appear once, and has its own result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from samsa.broker.broker import Broker
from samsa.ports import Unavailable
from samsa.wire.errors import ErrorCode

from .configs import Refused

if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    class Named(Protocol):
        name: str

    T = TypeVar("T", bound=Named)
    R = TypeVar("R")


async def each_topic(
    topics: Sequence[T],
    response: Callable[..., R],
    work: Callable[[T], Awaitable[R]],
    broker: Broker,
) -> list[R]:
    """The answer of `work` for each topic, or its error. A name that appears twice is refused."""
    names = Counter(topic.name for topic in topics)
    asked = {topic.name: topic for topic in topics}
    return [
        await _answer(topic, names[topic.name], response, work)
        async for topic in broker.work.pace(asked.values())
    ]


async def _answer(
    asked: T, times: int, response: Callable[..., R], work: Callable[[T], Awaitable[R]]
) -> R:
    try:
        if times > 1:
            raise Refused(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        return await work(asked)
    except Refused as refused:
        code, message = refused.code, refused.message
    except Unavailable as error:
        code, message = ErrorCode.REQUEST_TIMED_OUT, str(error)
    return response(name=asked.name, error_code=code, error_message=message)
