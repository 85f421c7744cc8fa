"""Asks the handlers of a broker, as a client would, but without the wire. Faults do not apply."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from samsa.broker.answer_rows import row_of
from samsa.broker.broker import HANDLERS, Broker, Context
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode

from .errors import SamsaError

CLIENT_ID = "samsa-testing"
LAST_BY_NAME = 12
"""The last version of Produce and Fetch that names topics, and not their ids."""
NEWEST = 1_000


class Asking:
    def __init__(self, broker: Broker, address: tuple[str, int]) -> None:
        self.broker = broker
        self._address = address

    @asynccontextmanager
    async def answered(self, key: ApiKey, row: Any, at_most: int = NEWEST) -> AsyncIterator[Any]:
        """The answer. Its memory counts as in use until the block ends."""
        version = min(APIS[key].versions[-1], at_most)
        context = Context(version, CLIENT_ID, self._address, "/127.0.0.1", asks_all=True)
        async with row_of(await HANDLERS[key](row, context, self.broker)) as answer:
            yield answer

    async def ask(self, key: ApiKey, row: Any, at_most: int = NEWEST) -> Any:
        async with self.answered(key, row, at_most) as answer:
            return answer


def check(code: int, message: str | None, what: str) -> None:
    """Raises SamsaError."""
    if code:
        name = ErrorCode(code).name
        raise SamsaError(f"{what}: {name}{f' ({message})' if message else ''}")
