"""The requests of a connection of a secured broker: those that change topics or groups are audited.

Changes of ACLs, credentials and quotas are audited where they are made (`SecurityView.on_change`).
"""

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from itertools import islice
from typing import Any

from samsa.broker.broker import Answer, Broker
from samsa.client_requests import ClientRequests
from samsa.security.access import Access
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError, ErrorCode
from samsa.wire.frame import Request

from .audit import Audit

MOST_LINES = 100
"""Of one request, which may name thousands of topics."""
Asked = Callable[[], Any]
"""The row of a request."""
Changes = Iterator[tuple[str, int]]
"""What was to be changed, and the error code that was answered."""


class AuditedRequests(ClientRequests):
    def __init__(
        self, broker: Broker, address: tuple[str, int], peer: str, access: Access, audit: Audit
    ) -> None:
        super().__init__(broker, address, "/" + peer.rpartition(":")[0], access)
        self._peer = peer
        self._audit = audit

    def answer(self, request: Request) -> Coroutine[Any, Any, Answer]:
        if request.api_key in CHANGES:
            return self._audited(request)
        return super().answer(request)

    async def _audited(self, request: Request) -> Answer:
        answer = await super().answer(request)
        asked = partial(_asked, request)
        changed(self._audit, self.access, self._peer, request.api_key, asked, answer)
        return answer


def changed(audit: Audit, access: Access, peer: str, key: int, asked: Asked, answer: Any) -> None:
    """Audit what a request has changed. `asked` gives the row of the request."""
    if key not in CHANGES:
        return
    for resource, code in islice(CHANGES[key](asked, answer), MOST_LINES):
        audit.changed(
            principal=access.principal,
            address=peer,
            action=APIS[ApiKey(key)].name,
            resource=resource,
            outcome=_outcome(code),
        )


def _outcome(code: int) -> str:
    try:
        return ErrorCode(code).name.lower().replace("_", " ")
    except ValueError:
        return str(code)


def _rows(array: str, name: str) -> Callable[[Asked, Any], Changes]:
    """For answers that name what was changed, each beside its error code."""

    def changes(_: Asked, answer: Any) -> Changes:
        for row in getattr(answer, array):
            yield str(getattr(row, name)), row.error_code

    return changes


def _records(_: Asked, answer: Any) -> Changes:
    for topic in answer.topics:
        for partition in topic.partitions:
            yield f"{topic.name}-{partition.partition_index}", partition.error_code


def _offsets(asked: Asked, answer: Any) -> Changes:
    yield f"group {asked().group_id}", answer.error_code


def _asked(request: Request) -> Any:
    """Its rows, once more: the handler has had them."""
    try:
        return APIS[request.api_key].request.decode(request.api_version, request.body, False)
    except DecodeError:  # it was answered, so this does not happen
        return APIS[request.api_key].request()


CHANGES: dict[int, Callable[[Asked, Any], Changes]] = {
    ApiKey.CREATE_TOPICS: _rows("topics", "name"),
    ApiKey.DELETE_TOPICS: _rows("responses", "name"),
    ApiKey.CREATE_PARTITIONS: _rows("results", "name"),
    ApiKey.DELETE_RECORDS: _records,
    ApiKey.ALTER_CONFIGS: _rows("responses", "resource_name"),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _rows("responses", "resource_name"),
    ApiKey.DELETE_GROUPS: _rows("results", "group_id"),
    ApiKey.OFFSET_DELETE: _offsets,
}
