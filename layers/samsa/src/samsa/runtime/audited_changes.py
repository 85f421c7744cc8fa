"""The lines of the audit for requests that change topics or groups.

Changes of ACLs, credentials and quotas are audited where they are made (`SecurityView.on_change`).
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from samsa.security.principals import Principal
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError, ErrorCode
from samsa.wire.frame import KafkaRequest

from .audit import Audit

MOST_LINES = 100
"""Of one request, which may name thousands of topics. Refused ones are limited as all refusals."""
Asked = Callable[[], Any]
"""The row of a request."""
Changes = Iterator[tuple[str, int]]
"""What was to be changed, and the error code that was answered."""


def tell_changes(
    audit: Audit, request: KafkaRequest, answer: Any, principal: Principal, address: str
) -> None:
    """Of a request by Kafka's protocol."""
    asked = partial(_asked, request)
    tell_changes_of(audit, request.api_key, asked, answer, principal, address)


def tell_changes_of(
    audit: Audit, key: int, asked: Asked, answer: Any, principal: Principal, address: str
) -> None:
    """Nothing, if the API is not in `CHANGES`."""
    if key not in CHANGES:
        return
    for resource, code in islice(CHANGES[key](asked, answer), MOST_LINES):
        tell = audit.refused_change if code else audit.changed
        tell(
            principal=principal,
            address=address,
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


def _asked(request: KafkaRequest) -> Any:
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
