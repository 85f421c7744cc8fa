"""The requests of a connection of a secured broker. What changes topics or groups is audited."""

from collections.abc import Coroutine
from typing import Any

from samsa.broker.broker import Answer, Broker
from samsa.client_requests import ClientRequests
from samsa.runtime.audit import Audit
from samsa.runtime.audited_changes import CHANGES, tell_changes
from samsa.security.access import Access
from samsa.wire.frame import KafkaRequest


class AuditedRequests(ClientRequests):
    def __init__(
        self, broker: Broker, address: tuple[str, int], peer: str, access: Access, audit: Audit
    ) -> None:
        super().__init__(broker, address, "/" + peer.rpartition(":")[0], access)
        self._peer = peer
        self._audit = audit

    def answer(self, request: KafkaRequest) -> Coroutine[Any, Any, Answer]:
        if request.api_key in CHANGES:
            return self._audited(request)
        return super().answer(request)

    async def _audited(self, request: KafkaRequest) -> Answer:
        answer = await super().answer(request)
        tell_changes(self._audit, request, answer, self.access.principal, self._peer)
        return answer
