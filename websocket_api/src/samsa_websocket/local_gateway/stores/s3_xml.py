"""S3's answers: XML, and errors in it."""

import time
from html import escape

from starlette.responses import Response

from .bucket import Stored
from .refusals import S3Refused

PAGE = 1_000
"""Keys in one answer."""


def listed(name: str, found: list[Stored]) -> str:
    rows = "".join(
        f"<Contents><Key>{escape(one.key)}</Key><Size>{one.size}</Size><ETag>&quot;{one.size}"
        f"&quot;</ETag><LastModified>{_iso(one.modified)}</LastModified></Contents>"
        for one in found
    )
    more = len(found) == PAGE
    token = (
        f"<NextContinuationToken>{escape(found[-1].key)}</NextContinuationToken>" if more else ""
    )
    head = f"<Name>{name}</Name><KeyCount>{len(found)}</KeyCount><MaxKeys>{PAGE}</MaxKeys>"
    cut = f"<IsTruncated>{str(more).lower()}</IsTruncated>"
    return f"<ListBucketResult>{head}{cut}{token}{rows}</ListBucketResult>"


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))


def stored(etag: str) -> Response:
    return Response(status_code=200, headers={"etag": f'"{etag}"'})


def xml(text: str) -> Response:
    return Response(f'<?xml version="1.0" encoding="UTF-8"?>{text}', media_type="application/xml")


def refusal(refused: S3Refused) -> Response:
    said = f"<Code>{refused.code}</Code><Message>{escape(str(refused))}</Message>"
    answer = xml(f"<Error>{said}</Error>")
    answer.status_code = refused.status
    # What is left of the body is not read: the connection cannot be used again.
    answer.headers["connection"] = "close"
    return answer
