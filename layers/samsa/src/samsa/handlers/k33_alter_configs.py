"""AlterConfigs (key 33).

Behaviour: a topic's configs become exactly what the request lists; all others go back to their
defaults. Every process uses them within a second. The broker's own configs cannot be changed.
Deprecated in Kafka, but some clients still send it. Needs ALTER_CONFIGS (`topics/altering.py`).
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.topics.altering import Amend, alter_all, refuse_nulls
from samsa.wire.apis import ApiKey
from samsa.wire.messages import alter_configs as wire


@handles(ApiKey.ALTER_CONFIGS)
async def alter_configs(
    request: wire.AlterConfigsRequest, context: Context, broker: Broker
) -> wire.AlterConfigsResponse:
    return wire.RESPONSE(
        responses=await alter_all(
            request, _as_listed, wire.RESOURCE_RESPONSE, context.access, broker
        )
    )


def _as_listed(resource: wire.AlterConfigsResource) -> Amend:
    refuse_nulls(resource.configs)
    listed = {config.name: config.value for config in resource.configs if config.value is not None}
    return lambda _: listed
