"""A part of a file as an HTTP answer, read in a thread and sent piece by piece."""

import asyncio
import os
import re
from email.utils import formatdate

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .refusals import S3Refused

PIECE = 256 * 1024
RANGE = re.compile(r"bytes=([0-9]{1,18})-([0-9]{0,18})", re.ASCII)


def range_of(asked: str | None, size: int) -> tuple[int, int] | None:
    """Its first byte, and the one behind its last; None without a range. Raises S3Refused."""
    if asked is None:
        return None
    found = RANGE.fullmatch(asked)
    if found is None:
        raise S3Refused(416, "InvalidRange", "one range is bytes=FIRST-LAST")
    first = int(found[1])
    end = min(size, int(found[2]) + 1) if found[2] else size
    if first >= end:
        raise S3Refused(416, "InvalidRange", "The requested range is not satisfiable")
    return first, end


class FileAnswer(Response):
    """Closes the descriptor when it is done."""

    def __init__(self, fd: int, part: tuple[int, int] | None, size: int) -> None:
        self._fd = fd
        self._first, self._end = part or (0, size)
        modified = os.fstat(fd).st_mtime
        super().__init__(status_code=206 if part else 200)
        self.only_headers = False
        self.headers["content-length"] = str(self.length)
        self.headers["content-type"] = "application/octet-stream"
        self.headers["etag"] = f'"{size}"'
        self.headers["last-modified"] = formatdate(modified, usegmt=True)
        self.headers["accept-ranges"] = "bytes"
        if part:
            self.headers["content-range"] = f"bytes {self._first}-{self._end - 1}/{size}"

    @property
    def length(self) -> int:
        return self._end - self._first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        try:
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            at = self._first
            while at < self._end and not self.only_headers:
                piece = await asyncio.to_thread(os.pread, self._fd, min(PIECE, self._end - at), at)
                at += len(piece)
                body = {"body": piece, "more_body": True}
                await send({"type": "http.response.body", **body})
                if not piece:
                    break
            await send({"type": "http.response.body", "body": b""})
        finally:
            os.close(self._fd)
