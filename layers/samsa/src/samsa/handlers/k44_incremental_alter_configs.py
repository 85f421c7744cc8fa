"""IncrementalAlterConfigs (key 44).

Behaviour: sets and deletes single configs of a topic, appends to lists and subtracts from lists.
Either all changes of a resource are made or none. Every process uses them within a second. The
broker's own configs cannot be changed. Needs ALTER_CONFIGS (`topics/altering.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from samsa.broker.broker import Broker, Context, handles
from samsa.topics.altering import Amend, alter_all, refuse_nulls
from samsa.topics.config_kinds import ConfigType, parts
from samsa.topics.configs import Refused
from samsa.topics.topic_configs import TOPIC_CONFIGS
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import incremental_alter_configs as wire


class ConfigOperation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


OPERATIONS = frozenset(ConfigOperation)


@handles(ApiKey.INCREMENTAL_ALTER_CONFIGS)
async def incremental_alter_configs(
    request: wire.IncrementalAlterConfigsRequest, context: Context, broker: Broker
) -> wire.IncrementalAlterConfigsResponse:
    return wire.RESPONSE(
        responses=await alter_all(
            request, _one_by_one, wire.RESOURCE_RESPONSE, context.access, broker
        )
    )


def _one_by_one(resource: wire.AlterConfigsResource) -> Amend:
    for change in resource.configs:
        if change.config_operation not in OPERATIONS:
            raise Refused(
                ErrorCode.INVALID_REQUEST, f"Unknown operation type {change.config_operation}"
            )
    refuse_nulls([c for c in resource.configs if c.config_operation != ConfigOperation.DELETE])

    def amend(held: Mapping[str, str]) -> dict[str, str]:
        configs = dict(held)
        for change in resource.configs:
            _apply(configs, change)
        return configs

    return amend


def _apply(configs: dict[str, str], change: wire.AlterableConfig) -> None:
    operation = ConfigOperation(change.config_operation)
    if operation is ConfigOperation.DELETE:
        configs.pop(change.name, None)
        return
    value = change.value
    assert value is not None, "nulls were let through"
    if operation is ConfigOperation.SET:
        configs[change.name] = value
    else:
        configs[change.name] = _changed_list(configs, change.name, value, operation)


def _changed_list(
    configs: dict[str, str], name: str, value: str, operation: ConfigOperation
) -> str:
    config = TOPIC_CONFIGS.get(name)
    if config is None or config.kind.type is not ConfigType.LIST:
        raise Refused(
            ErrorCode.INVALID_CONFIG,
            f"Can't {operation.name} to key {name} because its type is not LIST.",
        )
    held, given = parts(configs.get(name, config.default)), parts(value)
    if operation is ConfigOperation.APPEND:
        known = set(held)
        return ",".join([*held, *(part for part in given if part not in known)])
    gone = set(given)
    return ",".join(part for part in held if part not in gone)
