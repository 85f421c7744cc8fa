"""Parses JSON bodies off the event loop, and only if their number of values is limited.

A parser makes an object for each value before anything can be checked, in one call that blocks all
else. So values are counted first. A body that has few commas and brackets is accepted at once;
others are scanned in slices, without the contents of strings.
"""

import json
import re
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from samsa.broker.work import Work

BEGINNINGS = (b",", b"{", b"[")
"""One of them stands before every value but the first."""
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[,{\[]', re.DOTALL)
STRINGS_PER_VALUE = 2
LOOK_EVERY = 1_000
VALUES_PER_ELEMENT = 2
"""A record in JSON has more values than a record in Kafka has elements, and they cost less."""
MOST_VALUES = 20_000
"""For bodies that do not hold records."""


def route_with(most_values: int | None = None) -> type[APIRoute]:
    """For routers whose bodies have at most so many values; None takes the limit from `Work`."""

    class JsonRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def handle_json(request: Request) -> Response:
                given = JsonRequest(request.scope, request.receive)
                given.most_values = most_values
                return await handle(given)

            return handle_json

    return JsonRoute


class JsonRequest(Request):
    most_values: int | None = None

    async def json(self) -> Any:
        """Raises HTTPException, JSONDecodeError."""
        body = await self.body()
        work: Work = self.app.state.served.work
        most = self.most_values or VALUES_PER_ELEMENT * work.limits.max_elements
        return await work.in_slices(_parsed(body, most))


def _parsed(body: bytes, most: int) -> Generator[None, None, Any]:
    if sum(map(body.count, BEGINNINGS)) > most:
        yield from _counted(body, most)
    yield
    return json.loads(body)


def _counted(body: bytes, most: int) -> Generator[None, None, None]:
    """Raises HTTPException: there are more values, or more strings than so many values have."""
    values = strings = 0
    for token in _TOKEN.finditer(body):
        if token[0][:1] == b'"':
            strings += 1
        else:
            values += 1
        if values > most or strings > STRINGS_PER_VALUE * most:
            raise HTTPException(413, f"a request has at most {most} JSON values")
        if (values + strings) % LOOK_EVERY == 0:
            yield
