"""A cluster with ACLs, an admin who gives rights, and principals of IAM who have none."""

from typing import Any

from bundle.given_gateway import Client, Cluster
from bundle.talk import TOPIC, create
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row

from samsa.security.acls import Acl
from samsa.security.aws_principals import principal_of_arn
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa.wire.apis import ApiKey
from samsa.wire.messages import create_acls, delete_acls
from samsa_websocket.gateway import Gateway

ACCOUNT = "123456789012"
ADMIN = f"arn:aws:iam::{ACCOUNT}:user/admin"
GRETE = f"arn:aws:iam::{ACCOUNT}:user/grete"
CLERK = f"arn:aws:sts::{ACCOUNT}:assumed-role/clerk/gregor"
LOOK_MS = 1_000
"""How often a function looks whether ACLs have changed."""


class ClosedCluster(Cluster):
    def __init__(self, cluster: Cluster, has_topic: bool = True) -> None:
        self.environment = {
            **cluster.environment,
            "SAMSA_ACLS": "on",
            "SAMSA_SUPER_USERS": f"User:{ADMIN}",
        }
        self.pushes, self.clock = cluster.pushes, cluster.clock
        self.first = self.another()
        self.admin = self.client(principal=ADMIN)
        if has_topic:
            create(self.admin)

    def grete(self, gateway: Gateway | None = None) -> Client:
        return self.client(gateway, GRETE)

    def clerk(self, gateway: Gateway | None = None) -> Client:
        return self.client(gateway, CLERK)

    def allow(self, arn: str, operation: Operation, **more: Any) -> None:
        row = create_acls.REQUEST(creations=[create_acls.CREATION(**_fields(arn, operation, more))])
        answer = self.admin.ask(ApiKey.CREATE_ACLS, 3, row)
        assert [each.error_code for each in answer.results] == [0]

    def disallow(self, arn: str, operation: Operation) -> None:
        acl = acl_of(arn, operation)
        asked = delete_acls.FILTER(
            resource_type_filter=acl.resource_type,
            resource_name_filter=acl.name,
            pattern_type_filter=acl.pattern_type,
            principal_filter=acl.principal,
            host_filter=acl.host,
            operation=acl.operation,
            permission_type=acl.permission,
        )
        answer = self.admin.ask(ApiKey.DELETE_ACLS, 3, delete_acls.REQUEST(filters=[asked]))
        assert len(answer.filter_results[0].matching_acls) == 1

    def a_moment_later(self, ms: int = LOOK_MS) -> None:
        self.clock.ahead_ms += ms


def acl_of(arn: str, operation: Operation, **more: Any) -> Acl:
    acl = Acl(
        ResourceType.TOPIC,
        PatternType.LITERAL,
        TOPIC,
        str(principal_of_arn(arn)),
        "*",
        operation,
        Permission.ALLOW,
    )
    return acl._replace(**more)


def _fields(arn: str, operation: Operation, more: dict[str, Any]) -> dict[str, Any]:
    acl = acl_of(arn, operation, **more)
    return {
        "resource_type": acl.resource_type,
        "resource_pattern_type": acl.pattern_type,
        "resource_name": acl.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation,
        "permission_type": acl.permission,
    }


def written(client: Client, value: bytes = b"value") -> int:
    """The error of an append."""
    row = produce_row(TOPIC, batch(value))
    answer = client.ask(ApiKey.PRODUCE, PRODUCE, row)
    return int(answer.responses[0].partition_responses[0].error_code)


def readable(client: Client, offset: int = 0) -> int:
    """The error of a fetch."""
    answer = client.ask(ApiKey.FETCH, FETCH, fetch_row(TOPIC, offset))
    return int(answer.responses[0].partitions[0].error_code)
