"""UpdateFeatures (key 57).

Behaviour: features have the levels that ApiVersions lists, and nothing changes them. To set one to
the level that it has succeeds, as in Kafka. Anything else is INVALID_UPDATE_VERSION with Kafka's
message, and then none is updated. A downgrade that Kafka would make is refused as well. Needs ALTER
on the cluster.

Versions: 0 has a flag instead of the type of an update. 0-1 list each feature of a request that
succeeded.
"""

from __future__ import annotations

from collections.abc import Iterator

from samsa.broker.broker import Broker, Context, handles
from samsa.security.kinds import Operation
from samsa.topics.features import FEATURES
from samsa.topics.permitted import CLUSTER_REFUSED, may_cluster
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import update_features as wire

LAST_WITH_RESULTS = 1
KNOWN = {one.name: one for one in FEATURES}
UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
SUCCEEDED = "NONE"
"""The message of a success, in Kafka too."""


@handles(ApiKey.UPDATE_FEATURES)
async def update_features(
    request: wire.UpdateFeaturesRequest, context: Context, broker: Broker
) -> wire.UpdateFeaturesResponse:
    if not may_cluster(context.access, Operation.ALTER):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return wire.RESPONSE(error_code=code, error_message=CLUSTER_REFUSED)
    async for update in broker.work.pace(request.feature_updates):
        why = next(_reasons(update, broker.nodes.controller), None)
        if why is not None:
            return wire.RESPONSE(
                error_code=ErrorCode.INVALID_UPDATE_VERSION,
                error_message="The update failed for all features since the following feature had "
                f"an error: Invalid update version {update.max_version_level} for feature "
                f"{update.feature}. {why}",
            )
    if context.version > LAST_WITH_RESULTS:
        return wire.RESPONSE(error_message=None)
    updates = broker.work.pace(request.feature_updates)
    results = [wire.RESULT(feature=one.feature, error_message=SUCCEEDED) async for one in updates]
    return wire.RESPONSE(error_message=None, results=results)


def _reasons(update: wire.FeatureUpdateKey, controller: int) -> Iterator[str]:
    """Why not; the first is told."""
    wanted, feature = update.max_version_level, KNOWN.get(update.feature)
    kind = SAFE_DOWNGRADE if update.allow_downgrade else update.upgrade_type
    if not UPGRADE <= kind <= UNSAFE_DOWNGRADE:
        yield "The controller does not support the given upgrade type."
    if wanted < 0:
        yield "A feature version cannot be less than 0."
    if feature is None and wanted == 0:
        yield f"Feature {update.feature} not found."
    if feature is None:
        yield f"Local controller {controller} does not support this feature."
    elif not feature.lowest <= wanted <= feature.level:
        supported = f"{feature.lowest}-{feature.level}"
        yield f"Local controller {controller} only supports versions {supported}"
    elif wanted < feature.level and kind == UPGRADE:
        yield (
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade."
        )
    elif wanted < feature.level:
        yield f"This broker has it at level {feature.level} and supports no other."
