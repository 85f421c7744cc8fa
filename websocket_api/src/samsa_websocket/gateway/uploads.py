"""Requests that are too large for a message: a ticket to upload one, and a reference to it.

A key names the principal that asked for its ticket: `spill/requests/{principal}/{seq}-{word}`. A
reference is accepted from that principal only, and only if its key has exactly the form that
tickets have. Responses that are too large are in another folder, so that none can be sent as a
request.
"""

import hashlib
import re

from samsa.aws.presign import Presigner
from samsa.ports import Buffer, Missing, Objects
from samsa_websocket.envelope import Reference, Ticket, Upload

REQUESTS = "spill/requests/"
RESPONSES = "spill/responses/"
LARGEST = 100 * 1024 * 1024
"""As Kafka's socket.request.max.bytes."""
LONGEST_KEY = 128
KEY = re.compile(r"spill/requests/(?P<principal>[0-9a-f]{32})/[0-9]{1,19}-[0-9a-z]{1,40}")


class BadUpload(Exception):
    """A request that cannot be read, or is not what was announced."""


def request_key(principal: str, seq: int, fresh: str) -> str:
    """Kept for a day, so that the same reference may come again, also on another connection."""
    return f"{REQUESTS}{_digest(principal)}/{seq}-{fresh}"


def response_key(connection_id: str, seq: int, fresh: str) -> str:
    return f"{RESPONSES}{connection_id.rstrip('=')}/{seq}-{fresh}"


def _digest(principal: str) -> str:
    return hashlib.blake2b(principal.encode(), digest_size=16).hexdigest()


async def ticket(asked: Upload, key: str, presigner: Presigner) -> Ticket:
    if asked.size > LARGEST:
        raise BadUpload(f"a request of {asked.size} bytes; the largest has {LARGEST}")
    put = await presigner.put(key, asked.size)
    return Ticket(asked.seq, key, put.url, tuple(put.headers.items()))


async def uploaded(reference: Reference, principal: str, objects: Objects) -> Buffer:
    raise_if_foreign(reference.key, principal)
    if reference.size > LARGEST:
        raise BadUpload(f"a request of {reference.size} bytes; the largest has {LARGEST}")
    try:
        frame = await objects.get(reference.key)
    except Missing:
        raise BadUpload(f"{reference.key} was not uploaded") from None
    if hashlib.sha256(frame).hexdigest() != reference.sha256.lower():
        raise BadUpload(f"{reference.key} is not what was announced")
    return frame


def raise_if_foreign(key: str, principal: str) -> None:
    """Both refusals have the same text, so that a caller cannot find out which keys others have."""
    found = KEY.fullmatch(key)
    if found is None or found["principal"] != _digest(principal):
        raise BadUpload(f"{key[:LONGEST_KEY]!r} is no upload of this caller")
