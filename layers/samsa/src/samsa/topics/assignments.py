"""Checks the replicas that an administrator asks for: they must be existing nodes, each once.

They change nothing. Every node serves every partition, and clients cannot choose which one is named
as the leader (`nodes.py`).
"""

from collections import Counter
from collections.abc import Sequence

from samsa.broker.nodes import Nodes
from samsa.wire.errors import ErrorCode

from .configs import Refused


def check_assignment(broker_ids: Sequence[int], nodes: Nodes) -> None:
    """Check the replicas of one partition. Raises Refused, with Kafka's messages."""
    strangers = sorted(set(broker_ids) - set(nodes.ids))
    repeated = [node for node, times in Counter(broker_ids).items() if times > 1]
    if not broker_ids:
        problem = "an empty replica list."
    elif strangers:
        problem = f"broker {strangers[0]}, but no such broker is registered."
    elif repeated:
        problem = f"the broker {repeated[0]} more than once."
    else:
        return
    raise Refused(
        ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"The manual partition assignment includes {problem}"
    )
