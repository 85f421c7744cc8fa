"""Which replicas an administrator asks for: there is one node to choose from."""

from collections.abc import Sequence

from samsa.wire.errors import ErrorCode

from .broker import NODE_ID
from .configs import Refused


def check_assignment(broker_ids: Sequence[int]) -> None:
    """The replicas of one partition. Raises Refused, in Kafka's words."""
    strangers = sorted(node for node in broker_ids if node != NODE_ID)
    if not broker_ids:
        problem = "an empty replica list."
    elif strangers:
        problem = f"broker {strangers[0]}, but no such broker is registered."
    elif len(broker_ids) > 1:
        problem = f"the broker {NODE_ID} more than once."
    else:
        return
    raise Refused(
        ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"The manual partition assignment includes {problem}"
    )
