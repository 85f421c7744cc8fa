"""What one client may do, as handlers ask it."""

from collections.abc import Iterable
from typing import Protocol

from .kinds import Operation, ResourceType
from .principals import ANONYMOUS, Principal


class Access(Protocol):
    """The rights of one principal at one address. Answers come from memory: asking waits for
    nothing, and costs little when the same is asked again."""

    @property
    def principal(self) -> Principal: ...

    @property
    def is_limited(self) -> bool:
        """Whether there are ACLs at all. If not, everything is allowed, and handlers may skip
        their checks."""

    def may(self, operation: Operation, resource: ResourceType, name: str) -> bool:
        """Whether the operation is allowed on this one resource."""

    def may_on_any(self, operation: Operation, resource: ResourceType) -> bool:
        """Whether it is allowed on at least one resource of that type, which need not exist."""

    def operations(self, possible: Iterable[Operation], resource: ResourceType, name: str) -> int:
        """Those of the possible operations that are allowed, as the bit field of Metadata."""


class Unlimited:
    """Where there are no ACLs."""

    principal = ANONYMOUS
    is_limited = False

    def may(self, operation: Operation, resource: ResourceType, name: str) -> bool:  # noqa: ARG002
        return True

    def may_on_any(self, operation: Operation, resource: ResourceType) -> bool:  # noqa: ARG002
        return True

    def operations(
        self,
        possible: Iterable[Operation],
        resource: ResourceType,  # noqa: ARG002
        name: str,  # noqa: ARG002
    ) -> int:
        return sum(1 << operation for operation in possible)


UNLIMITED: Access = Unlimited()
