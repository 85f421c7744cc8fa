"""The page: a few files of this package, with an ETag each. A browser asks anew each time, and gets
304 while nothing has changed."""

from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

router = APIRouter(include_in_schema=False)
FOLDER = Path(__file__).parent / "page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
SAFE = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Nothing from elsewhere, no script within the page, and the page in no frame of another site."""


class PageFile(NamedTuple):
    body: bytes
    etag: str
    media_type: str


@cache
def files() -> dict[str, PageFile]:
    """By name. Other names are not looked for, so that none leads out of the folder."""
    found = {}
    for path in sorted(FOLDER.glob("*")):
        if path.suffix in TYPES:
            body = path.read_bytes()
            etag = f'"{blake2b(body, digest_size=16).hexdigest()}"'
            found[path.name] = PageFile(body, etag, TYPES[path.suffix])
    return found


@router.get("/")
async def root() -> Response:
    return RedirectResponse("/console/", 307)


@router.get("/console")
async def without_slash() -> Response:
    return RedirectResponse("/console/", 307)


@router.get("/console/")
async def index(request: Request) -> Response:
    return _answer("index.html", request)


@router.get("/console/{name}")
async def file(name: str, request: Request) -> Response:
    return _answer(name, request)


def _answer(name: str, request: Request) -> Response:
    found = files().get(name)
    if found is None:
        raise HTTPException(404, f"the console has no file {name[:100]!r}")
    headers = {**SAFE, "ETag": found.etag}
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(found.body, headers=headers, media_type=found.media_type)
