"""One Kafka request of a visit: answered, or parked.

The handlers are those of a server. Where one would wait, the port says that it cannot: a fetch then
comes back with what there is, and a join or a sync with nothing; either is parked.
"""

import asyncio
from base64 import urlsafe_b64encode
from hashlib import blake2b
from typing import Any

from samsa.aws.pushing import watch_name
from samsa.envelope import EnvelopeError, Frame, Parked, apart, encode, fits
from samsa.handlers import dispatch
from samsa.handlers.broker import Held, Later
from samsa.handlers.legacy_fetch import LAST_WITH_MESSAGE_SETS
from samsa.ports import CannotWait, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.frame import Request, read_request

from .assembly import Assembly
from .replies import Replies, frame_of
from .uploads import response_key
from .visit import Parking, Visit
from .whereabouts import Whereabouts

NEED_CLUSTER_ID = frozenset({ApiKey.METADATA, ApiKey.DESCRIBE_CLUSTER})
MOST_S = 20.0
"""For appends: then the client is told that nothing is known, before API Gateway tells the shim."""


class Kafka:
    def __init__(self, parts: Assembly, good_ms: int) -> None:
        self._parts = parts
        self._good_ms = good_ms
        self._replies = Replies(parts.objects, parts.presigner)
        self.whereabouts = Whereabouts(parts.connections)

    async def serve(self, visit: Visit, frame: Frame) -> str:
        """The text that answers it. Raises DecodeError; Unavailable."""
        # A copy that may be written to: an append patches offsets where the batches are.
        request = read_request(memoryview(bytearray(frame)))
        visit.pinned = request.api_key == ApiKey.JOIN_GROUP
        if request.api_key == ApiKey.FETCH:
            visit.stands_still_ms = self._parts.clock.now_ms()
            self._parts.objects.promising = request.api_version > LAST_WITH_MESSAGE_SETS
        try:
            given = await self._answer(visit, request)
        except CannotWait:
            assert visit.parking is not None
            return self._parked(visit, visit.parking)
        finally:
            self._parts.objects.promising = False
        if visit.parking is not None:
            return await self._parked_fetch(visit, visit.parking, request, given)
        return await self._replies.text(visit.seq, self._spill_key(visit), request, given)

    async def serve_several(self, visit: Visit, frames: Frame) -> str:
        """The same for produces that came together: all are queued before the first is waited for,
        and so share a commit. Raises DecodeError, EnvelopeError; Unavailable."""
        requests = [read_request(frame) for frame in apart(memoryview(bytearray(frames)))]
        if any(request.api_key != ApiKey.PRODUCE for request in requests):
            raise EnvelopeError("only produces come together")
        under_way: list[Any] = []
        try:
            for request in requests:
                under_way.append(await self._begin(visit, request))  # noqa: PERF401
        finally:
            # If one cannot be read, those before it are seen through all the same.
            rows = await asyncio.gather(*map(_ended, under_way))
        answers = zip(requests, rows, strict=True)
        return await self._replies.several(visit.seq, self._spill_key(visit), answers)

    def _spill_key(self, visit: Visit) -> str:
        return response_key(visit.connection_id, visit.seq, self._parts.fresh())

    async def _answer(self, visit: Visit, request: Request) -> Any:
        return await _ended(await self._begin(visit, request))

    async def _begin(self, visit: Visit, request: Request) -> Any:
        """An answer, or one that is under way."""
        broker = self._parts.broker
        if request.api_key in NEED_CLUSTER_ID and not broker.cluster_id:
            broker.cluster_id = await self._parts.ledger.cluster_id(self._proposed_id())
        where = await self.whereabouts.of(visit.connection_id, request.api_key)
        address = (where.host, where.port)
        return await dispatch.answer(request, address, broker, f"/{where.client}")

    def _proposed_id(self) -> str:
        digest = blake2b(self._parts.fresh().encode(), digest_size=16).digest()
        return urlsafe_b64encode(digest).decode().rstrip("=")

    def _parked(self, visit: Visit, parking: Parking, frame: bytes = b"", good_ms: int = 0) -> str:
        names = tuple(sorted({watch_name(each) for each in parking.awaited}))
        return encode(Parked(visit.seq, parking.wait_ms, names, frame, good_ms))

    async def _parked_fetch(
        self, visit: Visit, parking: Parking, request: Request, row: Any
    ) -> str:
        watched = await self._have_remembered(visit)
        if any(piece for t in row.responses for p in t.partitions for piece in p.records):
            return self._parked(visit, parking)  # less than min_bytes: it comes again for the rest
        frame = b"".join(frame_of(request, row))
        all_watched = watched and visit.watched >= set(parking.awaited)
        text = self._parked(visit, parking, frame, self._good_ms if all_watched else 0)
        return text if fits(text) else self._parked(visit, parking)

    async def _have_remembered(self, visit: Visit) -> bool:
        try:
            await self.whereabouts.watches(visit.connection_id, visit.watched)
        except Unavailable:
            return False
        return True


async def _ended(given: Any) -> Any:
    """The row of an answer, when it is there or its time is up."""
    if isinstance(given, Later):
        if given.under_way:
            timeout_s = min(given.timeout_s or MOST_S, MOST_S)
            await asyncio.wait(given.under_way, timeout=timeout_s)
        given = given.build()
    if isinstance(given, Held):
        given.release()
        given = given.row
    return given
