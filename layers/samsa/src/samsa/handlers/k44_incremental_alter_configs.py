"""IncrementalAlterConfigs (key 44).

Behaviour: sets and deletes single configs of a topic, appends to and subtracts from lists, all of a
resource's or none. Every process honours them within a second. The broker's own cannot be changed.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.incremental_alter_configs import RESOURCE_RESPONSE, RESPONSE

from .altering import Amend, alter_all, refuse_nulls
from .broker import Broker, Context, handles
from .config_kinds import ConfigType, parts
from .configs import Refused
from .topic_configs import TOPIC_CONFIGS


class Operation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


OPERATIONS = frozenset(Operation)


@handles(ApiKey.INCREMENTAL_ALTER_CONFIGS)
async def incremental_alter_configs(request: Any, context: Context, broker: Broker) -> Any:
    return RESPONSE(responses=await alter_all(request, _one_by_one, RESOURCE_RESPONSE, broker))


def _one_by_one(resource: Any) -> Amend:
    for change in resource.configs:
        if change.config_operation not in OPERATIONS:
            raise Refused(
                ErrorCode.INVALID_REQUEST, f"Unknown operation type {change.config_operation}"
            )
    refuse_nulls([c for c in resource.configs if c.config_operation != Operation.DELETE])

    def amend(held: Mapping[str, str]) -> dict[str, str]:
        configs = dict(held)
        for change in resource.configs:
            _apply(configs, change)
        return configs

    return amend


def _apply(configs: dict[str, str], change: Any) -> None:
    operation = Operation(change.config_operation)
    if operation is Operation.SET:
        configs[change.name] = change.value
    elif operation is Operation.DELETE:
        configs.pop(change.name, None)
    else:
        configs[change.name] = _changed_list(configs, change, operation)


def _changed_list(configs: dict[str, str], change: Any, operation: Operation) -> str:
    config = TOPIC_CONFIGS.get(change.name)
    if config is None or config.kind.type is not ConfigType.LIST:
        raise Refused(
            ErrorCode.INVALID_CONFIG,
            f"Can't {operation.name} to key {change.name} because its type is not LIST.",
        )
    held, given = parts(configs.get(change.name, config.default)), parts(change.value)
    if operation is Operation.APPEND:
        known = set(held)
        return ",".join([*held, *(part for part in given if part not in known)])
    gone = set(given)
    return ",".join(part for part in held if part not in gone)
