"""Requests that are too large for a message: a ticket to upload one, and a reference to it."""

import hashlib

from samsa.aws.presign import Presigner
from samsa.envelope import Reference, Ticket, Upload
from samsa.ports import Buffer, Missing, Objects

SPILL = "spill/"
LARGEST = 100 * 1024 * 1024
"""As Kafka's socket.request.max.bytes."""


class BadUpload(Exception):
    """A request that cannot be had, or is not what was announced."""


def spill_key(connection_id: str, seq: int, fresh: str) -> str:
    """Kept for a day, so that the same reference may come again."""
    return f"{SPILL}{connection_id.rstrip('=')}/{seq}-{fresh}"


async def ticket(asked: Upload, key: str, presigner: Presigner) -> Ticket:
    if asked.size > LARGEST:
        raise BadUpload(f"a request of {asked.size} bytes; the largest has {LARGEST}")
    put = await presigner.put(key, asked.size)
    return Ticket(asked.seq, key, put.url, tuple(put.headers.items()))


async def uploaded(reference: Reference, objects: Objects) -> Buffer:
    if not reference.key.startswith(SPILL) or reference.size > LARGEST:
        raise BadUpload(f"{reference.key!r} of {reference.size} bytes is no upload")
    try:
        frame = await objects.get(reference.key)
    except Missing:
        raise BadUpload(f"{reference.key!r} was not uploaded") from None
    if hashlib.sha256(frame).hexdigest() != reference.sha256.lower():
        raise BadUpload(f"{reference.key!r} is not what was announced")
    return frame
