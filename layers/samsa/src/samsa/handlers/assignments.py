"""Which replicas an administrator asks for: nodes that there are, each once.

They change nothing. Every node serves every partition, and which one is named as the leader is not
for anybody to choose (`nodes.py`).
"""

from collections import Counter
from collections.abc import Sequence

from samsa.wire.errors import ErrorCode

from .configs import Refused
from .nodes import Nodes


def check_assignment(broker_ids: Sequence[int], nodes: Nodes) -> None:
    """The replicas of one partition. Raises Refused, in Kafka's words."""
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
