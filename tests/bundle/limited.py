"""A closed cluster whose admin sets quotas, and whose time is turned on by hand."""

import time

from bundle.closed import CLERK, GRETE, ClosedCluster
from bundle.given_gateway import Cluster

from samsa.security.aws_principals import principal_of_arn
from samsa.security.kinds import Operation, ResourceType
from samsa.wire.apis import ApiKey
from samsa.wire.messages import alter_client_quotas as alter

GRETES: dict[str, str | None] = {"user": principal_of_arn(GRETE).name}


class ClockByHand:
    """It stands still, at a whole second."""

    def __init__(self) -> None:
        self.start_ms = time.time_ns() // 1_000_000_000 * 1000
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return self.start_ms + self.ahead_ms


class LimitedCluster(ClosedCluster):
    def __init__(self, cluster: Cluster) -> None:
        cluster.clock = ClockByHand()  # type: ignore[assignment]
        super().__init__(cluster)
        for arn in (GRETE, CLERK):
            self.allow(arn, Operation.ALL)
            self.allow(arn, Operation.ALL, resource_type=ResourceType.CLUSTER, name="kafka-cluster")

    def limit(self, entity: dict[str, str | None], **limits: float) -> None:
        """In force in every function, when it serves the next request."""
        entry = alter.ENTRY(
            entity=[alter.ENTITY(entity_type=kind, entity_name=n) for kind, n in entity.items()],
            ops=[alter.OP(key=key, value=value) for key, value in limits.items()],
        )
        answer = self.admin.ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, alter.REQUEST(entries=[entry]))
        assert answer.entries[0].error_code == 0
        self.a_moment_later()
