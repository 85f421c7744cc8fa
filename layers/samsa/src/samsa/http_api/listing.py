"""Answers that grow with the stored data: made off the event loop, a row at a time."""

import json
from collections.abc import Generator, Iterable, Mapping
from typing import Any

from fastapi.responses import Response

from samsa.broker.work import Work


async def listed(name: str, rows: Iterable[Mapping[str, Any]], work: Work, **more: Any) -> Response:
    """`{"name": [row, …], more}`. The rows are made off the event loop, so they must not wait."""
    return Response(await work.in_slices(_told(name, rows, more)), media_type="application/json")


def _told(
    name: str, rows: Iterable[Mapping[str, Any]], more: Mapping[str, Any]
) -> Generator[None, None, bytes]:
    told: list[str] = []
    for row in rows:
        told.append(json.dumps(row, separators=(",", ":")))
        yield
    rest = "".join(f",{json.dumps(key)}:{json.dumps(value)}" for key, value in more.items())
    return f"{{{json.dumps(name)}:[{','.join(told)}]{rest}}}".encode()
