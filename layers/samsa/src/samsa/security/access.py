"""What one client may do, as handlers ask it."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from .authorizer import LONGEST_NAME, Authorizer, Decision
from .kinds import Operation, ResourceType
from .principals import ANONYMOUS, Principal, canonical_host


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
        """Whether the operation is allowed on this one resource, which the client named."""

    def may_see(self, operation: Operation, resource: ResourceType, name: str) -> bool:
        """The same for a resource that the client did not name, as in a list of all topics: a
        refusal leaves it out, and is not an attempt that belongs in the audit."""

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

    may_see = may

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


class Question(NamedTuple):
    principal: Principal
    host: str
    operation: Operation
    resource_type: ResourceType
    name: str
    """Of the resource; empty when it was asked whether any will do."""


OnDecision = Callable[[Question, Decision | None], None]
"""Called with every refusal by `may` (with its decision) and by `may_on_any` (with None, as no
single ACL decides there). It is called in the middle of a request, and must be quick."""


MOST_GRANTED = 100
"""Names of which one client's grants are remembered."""


class Limited:
    """The rights of one principal at one address, by the ACLs that are in force when it is
    asked. `current` gives the Authorizer of now, which remembers its answers; what was granted
    to this client is remembered here, because a producer asks the same with each request."""

    is_limited = True

    def __init__(
        self,
        principal: Principal,
        host: str,
        current: Callable[[], Authorizer],
        on_decision: OnDecision | None = None,
    ) -> None:
        self.principal = principal
        self.host = canonical_host(host)
        self._current = current
        self._on_decision = on_decision
        self._granted: dict[str, tuple[Operation, ResourceType]] = {}
        """By name: what was granted last."""
        self._version: object = None
        """Of the ACLs that have granted it. An idle client holds no Authorizer of the past."""

    def may(self, operation: Operation, resource: ResourceType, name: str) -> bool:
        authorizer = self._current()
        if authorizer.version is self._version:
            granted = self._granted.get(name)
            if granted is not None and granted[0] is operation and granted[1] is resource:
                return True
        decision = authorizer.authorize(self.principal, self.host, operation, resource, name)
        if decision.allowed:
            self._remember(authorizer, operation, resource, name)
        else:
            self._tell(decision, operation, resource, name)
        return decision.allowed

    def _remember(
        self, by: Authorizer, operation: Operation, resource: ResourceType, name: str
    ) -> None:
        if by.version is not self._version or len(self._granted) >= MOST_GRANTED:
            self._granted.clear()
            self._version = by.version
        if len(name) <= LONGEST_NAME:
            self._granted[name] = operation, resource

    def may_see(self, operation: Operation, resource: ResourceType, name: str) -> bool:
        authorizer = self._current()
        return authorizer.authorize(self.principal, self.host, operation, resource, name).allowed

    def may_on_any(self, operation: Operation, resource: ResourceType) -> bool:
        allowed = self._current().authorize_any(self.principal, self.host, operation, resource)
        if not allowed:
            self._tell(None, operation, resource, "")
        return allowed

    def operations(self, possible: Iterable[Operation], resource: ResourceType, name: str) -> int:
        return sum(
            1 << operation for operation in possible if self.may_see(operation, resource, name)
        )

    def _tell(
        self, decision: Decision | None, operation: Operation, resource: ResourceType, name: str
    ) -> None:
        if self._on_decision is not None:
            question = Question(self.principal, self.host, operation, resource, name)
            self._on_decision(question, decision)
