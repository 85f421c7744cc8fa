"""ApiVersions (key 18).

Behaviour: lists all that we speak; each has a handler. A version that we do not know is answered at
version 0 with UNSUPPORTED_VERSION and the same list: the client can come back with one that we
know.

Features (3+): those of Kafka 4.3 that are true here. `metadata.version` says which Kafka this is to
its clients; nothing depends on it here. `group.version=1` is the consumer protocol (KIP-848). There
are no transactions, share groups, streams groups or voters: none of their features is listed, which
is level 0. Nothing changes them, so their epoch stays 0.

Versions: 3 lists no feature whose lowest level is 0: old Java clients do not read it (KAFKA-17011).
"""

from typing import Any, NamedTuple

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.api_versions import (
    API_VERSION,
    FINALIZED_FEATURE,
    RESPONSE,
    SUPPORTED_FEATURE,
)

from .broker import Broker, Context, handles


class Feature(NamedTuple):
    name: str
    lowest: int
    level: int
    """What holds, and the highest that we know."""


FEATURES = (Feature("group.version", 0, 1), Feature("metadata.version", 7, 30))
FEATURES_EPOCH = 0
FIRST_WITH_LEVEL_0 = 4


@handles(ApiKey.API_VERSIONS)
async def api_versions(request: Any, context: Context, broker: Broker) -> Any:
    supported = [
        SUPPORTED_FEATURE(name=one.name, min_version=one.lowest, max_version=one.level)
        for one in FEATURES
        if one.lowest > 0 or context.version >= FIRST_WITH_LEVEL_0
    ]
    finalized = [
        FINALIZED_FEATURE(name=one.name, max_version_level=one.level, min_version_level=one.level)
        for one in FEATURES
    ]
    return RESPONSE(
        api_keys=_served(),
        supported_features=supported,
        finalized_features_epoch=FEATURES_EPOCH,
        finalized_features=finalized,
    )


def unsupported_version() -> Any:
    return RESPONSE(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=_served())


def _served() -> list[Any]:
    return [
        API_VERSION(
            api_key=key,
            min_version=APIS[key].versions.start,
            max_version=APIS[key].versions.stop - 1,
        )
        for key in sorted(APIS)
    ]
