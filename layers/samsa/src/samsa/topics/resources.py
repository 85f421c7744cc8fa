"""The resources that have configs: topics, groups and nodes."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING

from samsa.broker.broker import Rules
from samsa.broker.nodes import Nodes
from samsa.ports import Topic
from samsa.security.kinds import CLUSTER_NAME, Operation, ResourceType
from samsa.wire.errors import ErrorCode

from .configs import Refused, check_name, default_of
from .permitted import raise_unless_may
from .topic_configs import TOPIC_CONFIGS

_NUMBER = re.compile(r"-?[0-9]{1,10}")
"""As an int32 is written."""
MOST_SHOWN = 200
"""Characters of a wrong id: a message is no longer than the longest string."""

if TYPE_CHECKING:
    from typing import Protocol

    from samsa.security.access import Access

    class Resource(Protocol):
        """A row that names a resource."""

        resource_type: int
        resource_name: str


class ConfigResourceType(IntEnum):
    """Numbered as in the config APIs. Loggers and client metrics have no configs here."""

    TOPIC = 2
    BROKER = 4
    GROUP = 32


class Source(IntEnum):
    """Where a config's value comes from."""

    TOPIC = 1
    BROKER = 4
    DEFAULT = 5


def source_of(topic: Topic, name: str, rules: Rules) -> Source:
    if name in topic.configs:
        return Source.TOPIC
    own = default_of(name, rules) != TOPIC_CONFIGS[name].default
    return Source.BROKER if own else Source.DEFAULT


def check_resource(resource: Resource, nodes: Nodes) -> ConfigResourceType:
    """The resource's type. Raises Refused. As in Kafka, a group need not exist."""
    kind = resource.resource_type
    if kind == ConfigResourceType.TOPIC:
        if not resource.resource_name:
            raise Refused(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
        check_name(resource.resource_name)
        return ConfigResourceType.TOPIC
    if kind == ConfigResourceType.GROUP:
        return ConfigResourceType.GROUP
    if kind != ConfigResourceType.BROKER:
        raise Refused(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")
    _check_node(resource.resource_name, nodes)
    return ConfigResourceType.BROKER


def raise_unless_may_configure(resource: Resource, operation: Operation, access: Access) -> None:
    """Whether the client may read or change these configs. Resources of kinds that have no configs
    here count as nodes: loggers, client metrics. Raises Refused."""
    if not access.is_limited:
        return
    kind, name = resource.resource_type, resource.resource_name
    if kind == ConfigResourceType.TOPIC:
        raise_unless_may(access, operation, ResourceType.TOPIC, name)
    elif kind == ConfigResourceType.GROUP:
        raise_unless_may(access, operation, ResourceType.GROUP, name)
    else:
        raise_unless_may(access, operation, ResourceType.CLUSTER, CLUSTER_NAME)


def _check_node(name: str, nodes: Nodes) -> None:
    """An empty name means every broker of the cluster. Any broker answers for any other."""
    if name and not _NUMBER.fullmatch(name):
        text = f"Broker id must be an integer, but it is: {name[:MOST_SHOWN]}"
        raise Refused(ErrorCode.INVALID_REQUEST, text)
    if name and int(name) not in nodes.ids:
        own = nodes.controller if nodes.own is None else nodes.own
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {own} or empty string, but received {name}",
        )
