"""The rooms that do no I/O: the wire and the records."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

from samsa.records.batch import read_header, validate
from samsa.records.header import HEADER_SIZE
from samsa.records.record import Record, build
from samsa.records.spans import at_once
from samsa.records.walk import walk
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
    yield from _walks()


def _walks() -> Iterator[Case]:
    for size in (100, KB, 10 * KB):
        for batch_size in (16 * KB, KB * KB):
            for spread in (0, size // 2):
                what = f"walk {size} B{' of many lengths' * bool(spread)} in {batch_size // KB} KB"
                data = _records(size, spread, batch_size // size)
                yield Case("records", what, partial(_walk, data), len(data))


def _records(size: int, spread: int, count: int) -> bytes:
    lengths = [size + (n * 7919 % (2 * spread) - spread if spread else 0) for n in range(count)]
    return build(Record(n, 0, None, bytes(length)) for n, length in enumerate(lengths))


def _walk(data: bytes) -> Any:
    return at_once(walk(read_header(data).count, data[HEADER_SIZE:]))


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
