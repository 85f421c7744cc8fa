"""S3's protocol over HTTP, for objects in a folder: signed requests, and presigned URLs.

A presigned URL opens what was signed and nothing else: its method, key and range, or the size of
what is put, until it expires. Bodies are never held as a whole: they go to and from the disk in
pieces, in threads.
"""

import asyncio
import hashlib
import logging
import re
import time
import uuid
from collections.abc import Callable, Mapping
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from samsa.aws.sigv4 import UNSIGNED
from samsa.runtime.logs import Repeated
from samsa_websocket.local_gateway.signature import SignatureRefused, SignedRequest, verify

from .bucket import Bucket
from .file_answer import FileAnswer, range_of
from .meter import Meter
from .refusals import S3Refused
from .s3_xml import PAGE, listed, refusal, stored, xml

log = logging.getLogger("samsa.local_api")
LARGEST_BODY = 256 * 1024 * 1024
LARGEST_XML = 2 * 1024 * 1024
WRITE_BYTES = 1024 * 1024
KEY = re.compile(rb"<Key>(.*?)</Key>", re.DOTALL)
HEX = re.compile(r"[0-9a-f]{64}")
Transferred = Callable[[str, int], None]
"""Called after a transfer by a presigned URL: its method, and how many bytes."""


class Asked(NamedTuple):
    request: Request
    key: str
    signer: str
    """The access key that signed it."""
    is_presigned: bool
    query: Mapping[str, str]

    @property
    def only_new(self) -> bool:
        return self.request.headers.get("if-none-match") == "*"


class S3Api:
    def __init__(
        self,
        bucket: Bucket,
        name: str,
        keys: Mapping[str, str],
        meter: Meter,
        transferred: Transferred,
    ) -> None:
        self._bucket = bucket
        self._name = name
        self._keys = keys
        self._meter = meter
        self._transferred = transferred
        self._failures = Repeated(log, logging.ERROR, "objects cannot be stored or read")

    async def serve(self, request: Request) -> Response:
        try:
            asked = self._asked(request)
            return await self._do(asked)
        except S3Refused as refused:
            return refusal(refused)
        except ClientDisconnect:
            return refusal(S3Refused(400, "IncompleteBody"))
        except OSError as error:
            self.failed(error)
            return refusal(S3Refused(503, "ServiceUnavailable", str(error.strerror)))

    def failed(self, error: OSError) -> None:
        """One line in the log, at most once a minute."""
        self._failures.happened(why=error)

    def _asked(self, request: Request) -> Asked:
        """Raises S3Refused."""
        query, headers = request.query_params, request.headers
        is_presigned = "X-Amz-Signature" in query
        payload = UNSIGNED if is_presigned else headers.get("x-amz-content-sha256", "")
        path = request.scope["raw_path"].decode("ascii", "replace")
        signed = SignedRequest(
            request.method, path, request.url.query, headers.items(), b"", "s3", payload
        )
        try:
            signer = verify(signed, self._keys, time.time())
        except SignatureRefused as refused:
            raise S3Refused(403, "AccessDenied", str(refused)) from None
        return Asked(request, request.path_params.get("key", ""), signer, is_presigned, query)

    async def _do(self, asked: Asked) -> Response:
        method = asked.request.method
        if method in ("GET", "HEAD"):
            return await (self._get(asked) if asked.key else self._list(asked))
        if method == "PUT" and asked.key:
            return await self._put(asked)
        if method == "POST" and "delete" in asked.query:
            return await self._delete_many(asked)
        if method == "POST" and asked.key:
            return await self._upload(asked)
        if method == "DELETE" and asked.key:
            return await self._delete(asked)
        raise S3Refused(501, "NotImplemented", "there is no such request here")

    def _count(self, asked: Asked, name: str, size: int = 0) -> None:
        self._meter.called("" if asked.is_presigned else asked.signer, name)
        if asked.is_presigned:
            self._transferred(asked.request.method, size)

    async def _get(self, asked: Asked) -> Response:
        fd, size = await asyncio.to_thread(self._bucket.open, asked.key)
        answer = FileAnswer(fd, range_of(asked.request.headers.get("range"), size), size)
        if asked.request.method == "HEAD":
            answer.only_headers = True
        name = "HeadObject" if asked.request.method == "HEAD" else "GetObject"
        self._count(asked, name, answer.length)
        return answer

    async def _list(self, asked: Asked) -> Response:
        prefix = asked.query.get("prefix", "")
        after = asked.query.get("continuation-token") or asked.query.get("start-after", "")
        found = await asyncio.to_thread(self._bucket.list, prefix, after, PAGE)
        self._count(asked, "List")
        return xml(listed(self._name, found))

    async def _put(self, asked: Asked) -> Response:
        if "uploadId" in asked.query:
            number = asked.query.get("partNumber", "")
            if not (number.isascii() and number.isdecimal() and len(number) < 6):
                raise S3Refused(400, "InvalidArgument", "a part has a number")
            part = self._bucket.part(asked.query["uploadId"], int(number))
            size = await self._receive(asked, part)
            self._count(asked, "UploadPart", size)
            return stored(f"{number}-{size}")
        self._bucket.path_of(asked.key)
        draft = self._bucket.draft(uuid.uuid4().hex)
        try:
            size = await self._receive(asked, draft)
            self._count(asked, "PutObject", size)  # one that is refused is paid for, too
            await asyncio.to_thread(self._bucket.publish, draft, asked.key, only_new=asked.only_new)
        finally:
            await asyncio.to_thread(draft.unlink, missing_ok=True)
        return stored(f"{size}")

    async def _receive(self, asked: Asked, draft: Path) -> int:
        """Write the body into a file. Returns its size."""
        announced = _length(asked.request, LARGEST_BODY)
        digest, size, waiting = hashlib.sha256(), 0, bytearray()

        def write(some: bytes) -> None:
            with draft.open("ab") as file:
                file.write(some)
            digest.update(some)

        await asyncio.to_thread(draft.write_bytes, b"")
        async for chunk in asked.request.stream():
            size += len(chunk)
            waiting += chunk
            if size > announced:
                raise S3Refused(400, "IncompleteBody", "more came than was announced")
            if len(waiting) >= WRITE_BYTES:
                await asyncio.to_thread(write, bytes(waiting))
                waiting.clear()
        await asyncio.to_thread(write, bytes(waiting))
        if size != announced:
            raise S3Refused(400, "IncompleteBody", "less came than was announced")
        said = asked.request.headers.get("x-amz-content-sha256", "")
        if not asked.is_presigned and HEX.fullmatch(said) and said != digest.hexdigest():
            raise S3Refused(400, "XAmzContentSHA256Mismatch")
        return size

    async def _upload(self, asked: Asked) -> Response:
        await _small_body(asked.request)
        upload_id = asked.query.get("uploadId")
        if upload_id is None:
            upload_id = uuid.uuid4().hex
            await asyncio.to_thread(self._bucket.begin_upload, upload_id)
            self._count(asked, "CreateMultipartUpload")
            inside = f"<Key>{escape(asked.key)}</Key><UploadId>{upload_id}</UploadId>"
            return xml(f"<InitiateMultipartUploadResult>{inside}</InitiateMultipartUploadResult>")
        await asyncio.to_thread(
            self._bucket.finish_upload, upload_id, asked.key, only_new=asked.only_new
        )
        self._count(asked, "CompleteMultipartUpload")
        inside = f'<Key>{escape(asked.key)}</Key><ETag>"{upload_id}"</ETag>'
        return xml(f"<CompleteMultipartUploadResult>{inside}</CompleteMultipartUploadResult>")

    async def _delete(self, asked: Asked) -> Response:
        if "uploadId" in asked.query:
            await asyncio.to_thread(self._bucket.abort_upload, asked.query["uploadId"])
        else:
            await asyncio.to_thread(self._bucket.delete, asked.key)
        self._count(asked, "DeleteObject")
        return Response(status_code=204)

    async def _delete_many(self, asked: Asked) -> Response:
        body = await _small_body(asked.request)
        said = asked.request.headers.get("x-amz-content-sha256", "")
        if hashlib.sha256(body).hexdigest() != said:
            raise S3Refused(400, "XAmzContentSHA256Mismatch")
        keys = [unescape(key.decode(errors="replace")) for key in KEY.findall(body)[:PAGE]]
        for key in keys:
            await asyncio.to_thread(self._bucket.delete, key)
        self._count(asked, "DeleteObjects")
        gone = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
        return xml(f"<DeleteResult>{gone}</DeleteResult>")


def _length(request: Request, most: int) -> int:
    """Raises S3Refused."""
    text = request.headers.get("content-length", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 12):
        raise S3Refused(411, "MissingContentLength")
    if int(text) > most:
        raise S3Refused(400, "EntityTooLarge")
    return int(text)


async def _small_body(request: Request) -> bytes:
    if request.headers.get("content-length", "0") == "0":
        return b""
    _length(request, LARGEST_XML)
    return await request.body()
