"""The row of a handler's answer, for callers that serve one request at a time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from .broker import Answer, Held, Later


@asynccontextmanager
async def row_of(answer: Answer) -> AsyncIterator[Any]:
    """The row, once it is ready or its time is up; None if the client wants no answer. Its memory
    counts as in use until the block ends."""
    if isinstance(answer, Later):
        answer = await answer.ended()
    if not isinstance(answer, Held):
        yield answer
        return
    try:
        yield answer.row
    finally:
        answer.release()
