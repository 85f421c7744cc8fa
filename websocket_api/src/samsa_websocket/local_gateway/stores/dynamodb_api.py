"""DynamoDB's JSON protocol over HTTP. One thread does all the work, one request after the other."""

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from samsa.runtime.logs import Repeated
from samsa_websocket.local_gateway.signature import SignatureRefused, SignedRequest, verify

from .meter import Meter
from .operations import Operations
from .refusals import Item, Refused, invalid
from .table_file import TableFile, encode

log = logging.getLogger("samsa.local_api")
TARGET = "x-amz-target"
VERSION = "DynamoDB_20120810."
LARGEST_BODY = 16 * 1024 * 1024
CONTENT_TYPE = "application/x-amz-json-1.0"
FREE = ("CreateTable", "DescribeTable", "DescribeTimeToLive", "UpdateTimeToLive")
"""Not counted: on AWS a deployment makes the table, and functions do not look for it."""


class DynamoApi:
    def __init__(self, path: Path, keys: Mapping[str, str], meter: Meter) -> None:
        """Raises sqlite3.Error."""
        self._keys = keys
        self._meter = meter
        self._thread = ThreadPoolExecutor(1, "table")
        self._file = TableFile(str(path))
        self._operations = Operations(self._file, _now_s)
        self._failures = Repeated(log, logging.ERROR, "the table cannot be used")

    async def serve(self, request: Request) -> Response:
        if (wrong := _why_not_read(request.headers.get("content-length", ""))) is not None:
            answer = _refused(wrong)
            answer.headers["connection"] = "close"  # the body is not read
            return answer
        body = await request.body()
        return await self._run(lambda: self._answer(request, body))

    async def _run(self, work: Callable[[], Response]) -> Response:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _answer(self, request: Request, body: bytes) -> Response:
        try:
            key = self._caller(request, body)
            operation = request.headers[TARGET].removeprefix(VERSION)
            answer = self._operations.run(operation, _read(body))
        except Refused as refused:
            return _refused(refused)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return _refused(invalid(f"no such request: {type(error).__name__}: {str(error)[:100]}"))
        except RecursionError:
            return _refused(invalid("the request is nested too deeply"))
        except sqlite3.Error as error:
            self._failures.happened(why=error)
            return _refused(Refused("InternalServerError", f"SQLite: {error}", 500))
        if operation not in FREE:
            self._meter.called(key, operation, answer.reads, answer.writes)
        return Response(encode(answer.body).encode(), media_type=CONTENT_TYPE)

    def _caller(self, request: Request, body: bytes) -> str:
        """Raises Refused."""
        path = request.scope["raw_path"].decode("ascii", "replace")
        headers = request.headers.items()
        asked = SignedRequest("POST", path, request.url.query, headers, body, "dynamodb")
        try:
            return verify(asked, self._keys, time.time())
        except SignatureRefused as refused:
            raise Refused("UnrecognizedClientException", str(refused)) from None

    async def create_table(self, name: str) -> None:
        """Raises sqlite3.Error."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._file.add_table, name)

    async def forget_expired(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._thread, self._file.forget_expired, _now_s())
        except sqlite3.Error as error:
            self._failures.happened(why=error)

    def close(self) -> None:
        """Waits for what is under way."""
        self._thread.submit(self._file.close)
        self._thread.shutdown(wait=True)


def _why_not_read(length: str) -> Refused | None:
    if not (length.isascii() and length.isdecimal() and len(length) < 10):
        return invalid("a request has a content length")
    if int(length) > LARGEST_BODY:
        return Refused("RequestEntityTooLargeException", "the request is too large", 413)
    return None


def _read(body: bytes) -> Item:
    read = json.loads(body)
    if not isinstance(read, dict):
        raise invalid("a request is an object")
    return read


def _refused(refused: Refused) -> Response:
    text = encode(refused.body).encode()
    return Response(text, refused.status, media_type=CONTENT_TYPE)


def _now_s() -> int:
    return int(time.time())
