"""The requests for a transactional id.

Producer ids come with the request: if a step answers `NeedsId`, ask again with a `fresh_id` that no
producer has had.
"""

from typing import NamedTuple, TypeAlias

from .state import Partitions


class Init(NamedTuple):
    """InitProducerId: a new producer, or one that recovers with its id and epoch (KIP-360)."""

    timeout_ms: int
    producer_id: int = -1
    epoch: int = -1
    fresh_id: int = -1


class AddPartitions(NamedTuple):
    producer_id: int
    epoch: int
    partitions: Partitions


class Verify(NamedTuple):
    """Are these partitions in the ongoing transaction?"""

    producer_id: int
    epoch: int
    partitions: Partitions


class AddGroup(NamedTuple):
    producer_id: int
    epoch: int
    group_id: str


class VerifyGroup(NamedTuple):
    """Is this group in the ongoing transaction?"""

    producer_id: int
    epoch: int
    group_id: str


class EndTransaction(NamedTuple):
    producer_id: int
    epoch: int
    commit: bool
    bumps: bool
    """Whether the end bumps the epoch: EndTxn from version 5 on ("transaction version 2")."""
    fresh_id: int = -1


class Expire(NamedTuple):
    """Abort an ongoing transaction whose time is up, and fence its producer."""

    fresh_id: int = -1


class Abort(NamedTuple):
    """An administrator aborts an ongoing transaction, whatever its age, and fences its producer."""

    fresh_id: int = -1


class Complete(NamedTuple):
    """The markers and offsets of this decided transaction are written."""

    serial: int


Request: TypeAlias = (
    Init
    | AddPartitions
    | Verify
    | AddGroup
    | VerifyGroup
    | EndTransaction
    | Expire
    | Abort
    | Complete
)
