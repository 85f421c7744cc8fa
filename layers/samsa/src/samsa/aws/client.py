"""A client of DynamoDB's JSON protocol over our own HTTP, with only what the ledger needs.

Almost every write of the ledger is idempotent. So a request whose fate is unknown is sent again, a
few times; then it raises Unavailable. A commit is sent again only if it was certainly not done. See
docs/decisions/0007 for why this is not boto3.
"""

import asyncio
import json
import random  # noqa: TID251  (only the length of a pause)
import zlib
from base64 import b64encode
from typing import Any

from samsa.aws.credentials import Credentials, endpoint_or, region_or, stamp
from samsa.aws.errors import named
from samsa.aws.http import Http, NotSent, Patience, post
from samsa.aws.http_answer import BadAnswer, HttpAnswer
from samsa.aws.items import Item
from samsa.aws.sigv4 import Keys, Signer
from samsa.ports import Misconfigured, NotDone, Unavailable

__all__ = ["DynamoClient", "Patience", "dynamodb_client"]

TARGET = "DynamoDB_20120810"
PAUSE_S = 0.05
"""Before the second try; doubled before each further try."""


def _wire(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is no attribute's value")


encode = json.JSONEncoder(separators=(",", ":"), default=_wire).encode


class DynamoClient:
    def __init__(
        self, endpoint: str | None, region: str | None, connections: int, patience: Patience
    ) -> None:
        region = region_or(region, endpoint)
        self._http = Http(endpoint_or(endpoint, "dynamodb", region), connections, patience)
        self._signer = Signer("dynamodb", region)
        self._credentials = Credentials()
        self._tries = patience.tries

    async def send(self, operation: str, parameters: Item, repeatable: bool = True) -> Item:
        """Raises ConditionFailed; Unavailable; Misconfigured; BadRequest, which is a bug.

        A request that is not `repeatable` is sent again only after NotDone.
        """
        body = encode(parameters).encode()
        for attempt in range(1, self._tries):
            try:
                return await self._try(operation, body)
            except Misconfigured:
                raise
            except Unavailable as error:
                if not (repeatable or isinstance(error, NotDone)):
                    raise
                jitter = random.uniform(0.5, 1.0)  # noqa: S311  # no secret
                await asyncio.sleep(PAUSE_S * 2 ** (attempt - 1) * jitter)
        return await self._try(operation, body)

    async def _try(self, operation: str, body: bytes) -> Item:
        keys = await self._keys()
        headers = {
            "content-type": "application/x-amz-json-1.0",
            "host": self._http.host,
            "x-amz-target": f"{TARGET}.{operation}",
        }
        signed = self._signer.headers(keys, stamp(), "POST", "/", headers, body)
        try:
            answer = await self._http.ask(post("/", signed, body))
            read = _read(answer)
        except NotSent as error:
            raise NotDone(f"DynamoDB {operation}: {error}") from error
        except (OSError, BadAnswer) as error:
            what = str(error) or type(error).__name__
            raise Unavailable(f"DynamoDB {operation}: {what}") from error
        if answer.status == 200:
            return read
        raise named(operation, answer.status, read)

    async def _keys(self) -> Keys:
        try:
            return await self._credentials.keys()
        except Misconfigured:
            raise
        except Unavailable as error:
            raise NotDone(str(error)) from error

    async def close(self) -> None:
        await self._http.close()


def _read(answer: HttpAnswer) -> Item:
    """The body. Raises BadAnswer if it is truncated: that must not be read as "no item", nor as a
    refusal without a reason."""
    body = answer.body
    checksum = answer.headers.get("x-amz-crc32")
    if checksum is not None and checksum != str(zlib.crc32(body)):
        raise BadAnswer("the checksum is another")
    try:
        read: Any = json.loads(body)
    except ValueError:
        read = None
    if isinstance(read, dict):
        return read
    # An error may come from a proxy and not from DynamoDB, and then it is not JSON.
    if answer.status < 500 and (answer.status == 200 or not body or body.startswith(b"{")):
        raise BadAnswer(f"{len(body)} bytes that are no answer")
    return {}


def dynamodb_client(
    endpoint: str | None, region: str | None, connections: int, patience: Patience
) -> DynamoClient:
    return DynamoClient(endpoint, region, connections, patience)
