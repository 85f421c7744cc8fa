"""Changes of configs, for all APIs that make them. Each resource has its own result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from samsa.broker.broker import Broker
from samsa.ports import Topic, Unavailable
from samsa.security.kinds import Operation
from samsa.wire.errors import ErrorCode

from .configs import Refused, check_configs
from .group_configs import KAFKAS_DEFAULTS
from .resources import ConfigResourceType, check_resource, raise_unless_may_configure

if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    from samsa.security.access import Access

    from .resources import Resource

    class ConfigChange(Protocol):
        name: str
        value: str | None

    class Altered(Resource, Protocol):
        """The changes that a request asks for one resource."""

        @property
        def configs(self) -> Sequence[ConfigChange]: ...

    A = TypeVar("A", bound=Altered)
    R = TypeVar("R")

    class Alteration(Protocol[A]):
        """A request that changes configs."""

        resources: list[A]
        validate_only: bool


Amend: TypeAlias = Callable[[Mapping[str, str]], dict[str, str]]
"""From the present configs to the new ones. Raises Refused."""


async def alter_all(
    request: Alteration[A],
    amend: Callable[[A], Amend],
    response: Callable[..., R],
    access: Access,
    broker: Broker,
) -> list[R]:
    """A row for each resource. `amend` returns the change that a resource asks for. Needs
    ALTER_CONFIGS on the topic, on the group, or on the cluster for nodes."""
    asked = Counter((row.resource_type, row.resource_name) for row in request.resources)
    rows = []
    async for resource in broker.work.pace(request.resources):
        code, message = ErrorCode.NONE, None
        try:
            if asked[resource.resource_type, resource.resource_name] > 1:
                raise Refused(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            raise_unless_may_configure(resource, Operation.ALTER_CONFIGS, access)
            await _alter(resource, amend(resource), request.validate_only, broker)
        except Refused as refused:
            code, message = refused.code, refused.message
        except Unavailable as error:
            code, message = ErrorCode.REQUEST_TIMED_OUT, str(error)
        rows.append(
            response(
                error_code=code,
                error_message=message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
        )
    return rows


async def _alter(resource: Altered, amend: Amend, dry_run: bool, broker: Broker) -> None:
    _check_entries(resource)
    kind = check_resource(resource, broker.nodes)
    if kind is ConfigResourceType.BROKER:
        _refuse_any(amend({}))
        return
    if kind is ConfigResourceType.GROUP:
        _refuse_group_configs(resource.resource_name, amend({}))
        return

    def changed(topic: Topic) -> Topic:
        configs = amend(topic.configs)
        check_configs(configs)
        return replace(topic, configs=configs)

    await broker.catalog.change(resource.resource_name, changed, dry_run)


def _refuse_any(configs: Mapping[str, str]) -> None:
    """The broker's configs cannot be set. Deleting a config that is not set is allowed: it changes
    nothing, and tools do so as a precaution."""
    if configs:
        names = ", ".join(configs)
        raise Refused(
            ErrorCode.INVALID_REQUEST, f"Cannot update these configs dynamically: [{names}]"
        )


def _refuse_group_configs(group_id: str, configs: Mapping[str, str]) -> None:
    """The same for groups: all of them have the settings that the broker was started with."""
    if not group_id:
        raise Refused(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    for name in configs:
        if name not in KAFKAS_DEFAULTS:
            raise Refused(ErrorCode.INVALID_CONFIG, f"Unknown group config name: {name}")
    if configs:
        names = ", ".join(configs)
        problem = f"Configs of a single group cannot be changed here: [{names}]"
        raise Refused(ErrorCode.INVALID_REQUEST, problem)


def _check_entries(resource: Altered) -> None:
    names = Counter(config.name for config in resource.configs)
    if any(count > 1 for count in names.values()):
        raise Refused(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")


def refuse_nulls(configs: Sequence[ConfigChange]) -> None:
    nulls = [config.name for config in configs if config.value is None]
    if nulls:
        raise Refused(
            ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}"
        )
