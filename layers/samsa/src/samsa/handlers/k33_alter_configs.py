"""AlterConfigs (key 33).

Behaviour: a topic's configs become exactly what the request lists; what it does not list goes back
to its default. Every process honours them within a second. The broker's own cannot be changed.
Deprecated in Kafka, and still what some clients send.
"""

from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.messages.alter_configs import RESOURCE_RESPONSE, RESPONSE

from .altering import Amend, alter_all, refuse_nulls
from .broker import Broker, Context, handles


@handles(ApiKey.ALTER_CONFIGS)
async def alter_configs(request: Any, context: Context, broker: Broker) -> Any:
    return RESPONSE(responses=await alter_all(request, _as_listed, RESOURCE_RESPONSE, broker))


def _as_listed(resource: Any) -> Amend:
    refuse_nulls(resource.configs)
    listed = {config.name: config.value for config in resource.configs}
    return lambda _: listed
