"""The rooms that do no I/O: the wire and the records."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

from samsa.records.batch import validate
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_request, response_frame
from samsa.wire.schema import Row

from .frames import (
    FETCH_VERSION,
    KB,
    LARGE,
    NAMES,
    PRODUCE_VERSION,
    SMALL,
    batch,
    fetch_request,
    fetch_response,
    produce_request,
    produce_response,
)
from .timing import Case

TOPIC = UUID(int=1)


def cases() -> Iterator[Case]:
    yield from _requests()
    yield from _responses()
    for size in (SMALL, LARGE):
        data = batch(size)
        yield Case(
            "records", f"validate and CRC, {NAMES[size]}", partial(validate, data), len(data)
        )


def _requests() -> Iterator[Case]:
    for size in (SMALL, LARGE):
        frame = produce_request(TOPIC, batch(size))
        yield Case("wire", f"decode Produce, {NAMES[size]}", partial(_decode, frame))
    for count in (1, 6):
        frame = fetch_request(TOPIC, count, LARGE)
        yield Case("wire", f"decode Fetch, partitions: {count}", partial(_decode, frame))


def _decode(frame: memoryview) -> Any:
    request = read_request(frame)
    return APIS[request.api_key].request.decode(request.api_version, request.body)


def _responses() -> Iterator[Case]:
    produced = produce_response(TOPIC)
    yield Case("wire", "encode Produce", _encode(ApiKey.PRODUCE, PRODUCE_VERSION, produced))
    for pieces in (1, 64):
        row = fetch_response(TOPIC, [memoryview(bytes(16 * KB))] * pieces)
        what = f"encode Fetch, pieces: {pieces}"
        yield Case("wire", what, _encode(ApiKey.FETCH, FETCH_VERSION, row))


def _encode(key: ApiKey, version: int, row: Row) -> Callable[[], Any]:
    message = APIS[key].response
    return lambda: response_frame(key, version, 1, message.encode(version, row))
