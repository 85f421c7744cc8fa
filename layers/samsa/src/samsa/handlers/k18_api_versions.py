"""ApiVersions (key 18).

Behaviour: lists all supported APIs; each has a handler. An unknown version is answered at version 0
with UNSUPPORTED_VERSION and the same list, so that the client can retry with a supported version.

Features (3+): the features of Kafka 4.3 that exist here (`topics/features.py`). They never change,
so their epoch stays 0.

Versions: 3 lists no feature whose lowest level is 0: old Java clients do not read it (KAFKA-17011).
"""

from samsa.broker.broker import Broker, Context, handles
from samsa.topics.features import FEATURES
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import api_versions as wire

FEATURES_EPOCH = 0
FIRST_WITH_LEVEL_0 = 4


@handles(ApiKey.API_VERSIONS)
async def api_versions(
    request: "wire.ApiVersionsRequest", context: Context, broker: Broker
) -> "wire.ApiVersionsResponse":
    return listed(context.version)


def listed(version: int) -> "wire.ApiVersionsResponse":
    """Without a broker, for a client that has not logged in."""
    supported = [
        wire.SUPPORTED_FEATURE(name=one.name, min_version=one.lowest, max_version=one.level)
        for one in FEATURES
        if one.lowest > 0 or version >= FIRST_WITH_LEVEL_0
    ]
    finalized = [
        wire.FINALIZED_FEATURE(
            name=one.name, max_version_level=one.level, min_version_level=one.level
        )
        for one in FEATURES
    ]
    return wire.RESPONSE(
        api_keys=_served(),
        supported_features=supported,
        finalized_features_epoch=FEATURES_EPOCH,
        finalized_features=finalized,
    )


def unsupported_version() -> "wire.ApiVersionsResponse":
    return wire.RESPONSE(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=_served())


def _served() -> "list[wire.ApiVersion]":
    return [
        wire.API_VERSION(
            api_key=key,
            min_version=APIS[key].versions.start,
            max_version=APIS[key].versions.stop - 1,
        )
        for key in sorted(APIS)
    ]
