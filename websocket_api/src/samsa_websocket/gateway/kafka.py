"""One Kafka request: answered, or parked.

The handlers are those of a server. Where a handler would wait, the port raises CannotWait. A fetch
then returns what there is, a join or a sync returns nothing, and the request is parked.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from samsa import dispatch
from samsa.broker.answer_rows import row_of
from samsa.ports import CannotWait, Unavailable
from samsa.security.access import Access, Limited
from samsa.wire.apis import ApiKey
from samsa.wire.frame import KafkaRequest, read_request
from samsa_websocket.envelope import EnvelopeError, Frame, ParkedReply, apart, encode, fits
from samsa_websocket.pushes.pushing import watch_name

from .assembly import Assembly
from .connection_cache import ConnectionCache
from .replies import ReplyTexts, frame_of
from .request_scope import Parking, RequestScope
from .rights import CallerRights, RightsByAcl
from .uploads import response_key

if TYPE_CHECKING:
    from samsa.security.throttling import ClientThrottle

    from .quotas import GatewayQuotas, MessageQuotas

NEED_CLUSTER_ID = frozenset({ApiKey.METADATA, ApiKey.DESCRIBE_CLUSTER})


class RequestServer:
    def __init__(self, parts: Assembly, good_ms: int) -> None:
        self._parts = parts
        self._good_ms = good_ms
        self._replies = ReplyTexts(parts.objects, parts.presigner)
        self.connections = ConnectionCache(parts.connections)
        self.rights = _rights(parts, self.connections)
        self._quotas: GatewayQuotas | None = None

    async def serve(self, scope: RequestScope, frame: Frame) -> str:
        """The text that answers it. Raises DecodeError; Unavailable; UnknownCaller."""
        # A copy that may be written to: an append patches offsets where the batches are.
        request = read_request(memoryview(bytearray(frame)))
        access = await self.rights.of(scope.connection_id, scope.since)
        quotas = self._quotas_of([request], [len(frame)], access)
        if quotas is None:
            return await self._answered(scope, request, access)
        async with quotas:
            return await self._answered(scope, request, access, quotas)

    async def _answered(
        self,
        scope: RequestScope,
        request: KafkaRequest,
        access: Access,
        quotas: "MessageQuotas | None" = None,
    ) -> str:
        throttle = None if quotas is None else quotas.throttle
        try:
            given = await _ended(await self._begin(scope, request, access, throttle))
        except CannotWait:
            assert scope.parking is not None
            return self._parked(scope, scope.parking)
        self.rights.answered(request, given, access)
        if quotas is None:
            if scope.parking is not None:
                return await self._parked_fetch(scope, scope.parking, request, given)
            return await self._replies.text(scope.seq, self._spill_key(scope), request, given)
        return await self._throttled(scope, request, given, quotas)

    async def _throttled(
        self, scope: RequestScope, request: KafkaRequest, given: Any, quotas: "MessageQuotas"
    ) -> str:
        [given] = await quotas.judge([given])
        # A fetch over the quota is answered: to ask again would find it over the quota again.
        if scope.parking is not None and not quotas.mute_ms:
            return await self._parked_fetch(scope, scope.parking, request, given)
        key, mute_ms = self._spill_key(scope), quotas.mute_ms
        text = await self._replies.text(scope.seq, key, request, given, mute_ms)
        quotas.sent(given)
        return text

    async def serve_several(self, scope: RequestScope, frames: Frame) -> str:
        """The same for produces that came together: all are queued before the first is waited for,
        and so share a commit. Raises DecodeError, EnvelopeError; Unavailable; UnknownCaller."""
        each = apart(memoryview(bytearray(frames)))
        requests = [read_request(frame) for frame in each]
        if any(request.api_key != ApiKey.PRODUCE for request in requests):
            raise EnvelopeError("only produces come together")
        access = await self.rights.of(scope.connection_id, scope.since)
        quotas = self._quotas_of(requests, list(map(len, each)), access)
        if quotas is None:
            rows = await self._all_answered(scope, requests, access)
            return await self._several(scope, requests, rows)
        async with quotas:
            rows = await self._all_answered(scope, requests, access)
            rows = await quotas.judge(rows)
            return await self._several(scope, requests, rows, quotas.mute_ms)

    async def _all_answered(
        self, scope: RequestScope, requests: Sequence[KafkaRequest], access: Access
    ) -> list[Any]:
        under_way: list[Any] = []
        try:
            for request in requests:
                under_way.append(await self._begin(scope, request, access))  # noqa: PERF401
        finally:
            # If one request cannot be read, those before it are still finished.
            rows = await asyncio.gather(*map(_ended, under_way))
        return rows

    async def _several(
        self,
        scope: RequestScope,
        requests: Sequence[KafkaRequest],
        rows: list[Any],
        mute_ms: int = 0,
    ) -> str:
        answers = zip(requests, rows, strict=True)
        return await self._replies.several(scope.seq, self._spill_key(scope), answers, mute_ms)

    async def is_too_fast(self, address: str | None) -> bool:
        """Whether a new connection from there is over a quota. By the quotas as they are known:
        connecting reads none."""
        quotas = self._quotas_in_force()
        return bool(quotas and address and await quotas.connect(address))

    def _quotas_of(
        self, requests: Sequence[KafkaRequest], sizes: Sequence[int], access: Access
    ) -> "MessageQuotas | None":
        quotas = self._quotas_in_force()
        return None if quotas is None else quotas.of(requests, sizes, access)

    def _quotas_in_force(self) -> "GatewayQuotas | None":
        """None without quotas. Imported with the first, for the sake of cold starts."""
        parts = self._parts
        view = parts.broker.access
        if view is None or view.quota_table.is_empty:
            return None
        if self._quotas is None:
            from .quotas import GatewayQuotas

            self._quotas = GatewayQuotas(view, parts.ledger.table, parts.clock)
        return self._quotas

    def _spill_key(self, scope: RequestScope) -> str:
        return response_key(scope.connection_id, scope.seq, self._parts.fresh())

    async def _begin(
        self,
        scope: RequestScope,
        request: KafkaRequest,
        access: Access,
        throttle: "ClientThrottle | None" = None,
    ) -> Any:
        """An answer, or a Later whose answer is under way."""
        broker = self._parts.broker
        if request.api_key in NEED_CLUSTER_ID:
            await broker.find_cluster_id()
        where = await self.connections.of(scope.connection_id, scope.since, request.api_key)
        address = (where.host, where.port)
        ports = self._parts.ports(scope, request)
        host = where.client or (access.host if isinstance(access, Limited) else "")
        return await dispatch.answer(request, address, broker, f"/{host}", access, ports, throttle)

    def _parked(
        self, scope: RequestScope, parking: Parking, frame: bytes = b"", good_ms: int = 0
    ) -> str:
        names = tuple(sorted({watch_name(each) for each in parking.awaited}))
        return encode(ParkedReply(scope.seq, parking.wait_ms, names, frame, good_ms))

    async def _parked_fetch(
        self, scope: RequestScope, parking: Parking, request: KafkaRequest, row: Any
    ) -> str:
        watched = await self._have_remembered(scope)
        if any(piece for t in row.responses for p in t.partitions for piece in p.records):
            return self._parked(scope, parking)  # less than min_bytes: the shim asks again
        frame = b"".join(frame_of(request, row))
        all_watched = watched and scope.watched >= set(parking.awaited)
        good_ms = self._good_ms if all_watched else 0
        if parking.look_again_ms is not None:
            good_ms = min(good_ms, parking.look_again_ms)
        text = self._parked(scope, parking, frame, good_ms)
        return text if fits(text) else self._parked(scope, parking)

    async def _have_remembered(self, scope: RequestScope) -> bool:
        try:
            await self.connections.watches(scope.connection_id, scope.watched)
        except Unavailable:
            return False
        return True


def _rights(parts: Assembly, connections: ConnectionCache) -> CallerRights:
    view, audit = parts.broker.access, parts.audit
    if view is None or audit is None:
        return CallerRights(connections)
    return RightsByAcl(connections, view, audit)


async def _ended(answer: Any) -> Any:
    """The row. Its memory is not waited for: a function serves one request at a time."""
    async with row_of(answer) as row:
        return row
