"""Requests that change topics by name: each once, and each answered on its own."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from samsa.ports import Unavailable
from samsa.wire.errors import ErrorCode
from samsa.wire.schema import Struct

from .broker import Broker
from .configs import Refused


async def each_topic(
    topics: Sequence[Any],
    response: Struct,
    work: Callable[[Any], Awaitable[Any]],
    broker: Broker,
) -> list[Any]:
    """What `work` answers for each topic, or why not. A name that stands twice is refused."""
    names = Counter(topic.name for topic in topics)
    asked = {topic.name: topic for topic in topics}
    return [
        await _answer(topic, names[topic.name], response, work)
        async for topic in broker.work.pace(asked.values())
    ]


async def _answer(
    asked: Any, times: int, response: Struct, work: Callable[[Any], Awaitable[Any]]
) -> Any:
    try:
        if times > 1:
            raise Refused(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        return await work(asked)
    except Refused as refused:
        code, message = refused.code, refused.message
    except Unavailable as error:
        code, message = ErrorCode.REQUEST_TIMED_OUT, str(error)
    return response(name=asked.name, error_code=code, error_message=message)
