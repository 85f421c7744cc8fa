"""The decision: may this principal, from this host, do this to that resource?

The rules are those of Kafka's StandardAuthorizer:

- Super users may do everything.
- An ACL counts if its principal is the client's or `User:*`, its host is the client's or `*`, its
  pattern covers the name, and its operation is the one asked for or ALL.
- An ACL that allows READ, WRITE, DELETE or ALTER also allows DESCRIBE; one that allows
  ALTER_CONFIGS also allows DESCRIBE_CONFIGS. An ACL that denies implies nothing.
- One ACL that denies outweighs all that allow.
- If nothing counts, the answer is no. But if no ACL at all covers the name, not even for others,
  the answer is what `allow_if_no_acl` says.

The ACLs of an Authorizer never change: a change makes another Authorizer. ACLs are found by
principal and address, then by name, so that a question costs the same with ten ACLs and with ten
thousand.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from samsa.bounded import Bounded

from .acls import EVERY_USER, WILDCARD, Acl
from .kinds import Operation, PatternType, Permission, ResourceType
from .principals import Principal, canonical_host

IMPLIED_BY: dict[Operation, frozenset[Operation]] = {
    Operation.DESCRIBE: frozenset(
        {Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER}
    ),
    Operation.DESCRIBE_CONFIGS: frozenset({Operation.ALTER_CONFIGS}),
}
"""Operations that an ACL allows beside its own."""

MOST_ANSWERS = 20_000
"""Answers that are remembered, of all clients together."""
LONGEST_NAME = 256
"""Answers about longer names are not remembered, so that names of a client's choice take little
memory. Names of topics have at most 249 characters."""

A_NAME = "hardcode"
"""Kafka first asks whether an operation is allowed on a resource of this name, when it asks whether
it is allowed on any: so super users and the default of brokers without ACLs come first."""


class Reason(Enum):
    SUPER_USER = "a super user"
    ACL = "an ACL"
    NO_ACL = "no ACL for this resource, and then everything is allowed"
    DEFAULT = "no ACL allows it"


class Decision(NamedTuple):
    allowed: bool
    reason: Reason
    acl: Acl | None = None
    """The ACL that decided, if one did."""

    def __str__(self) -> str:
        because = self.acl if self.acl is not None else self.reason.value
        return f"{'allowed' if self.allowed else 'denied'}: {because}"


SUPER_USER = Decision(True, Reason.SUPER_USER)
NO_ACL = Decision(True, Reason.NO_ACL)
DENIED = Decision(False, Reason.DEFAULT)


_Question = tuple[Principal, str, Operation, ResourceType, str]


class _Patterns:
    """ACLs about resources of one type, by the names that they cover."""

    def __init__(self) -> None:
        self._literal: dict[str, list[Acl]] = defaultdict(list)
        self._prefixed: dict[str, list[Acl]] = defaultdict(list)
        self._lengths: set[int] = set()

    def add(self, acl: Acl) -> None:
        if acl.pattern_type is PatternType.LITERAL:
            self._literal[acl.name].append(acl)
            return
        self._prefixed[acl.name].append(acl)
        self._lengths.add(len(acl.name))

    def covering(self, name: str) -> Iterator[Acl]:
        yield from self._literal.get(name, ())
        if name != WILDCARD:
            yield from self._literal.get(WILDCARD, ())
        for length in self._lengths:
            if length <= len(name):
                yield from self._prefixed.get(name[:length], ())

    def __iter__(self) -> Iterator[Acl]:
        for by_name in (self._literal, self._prefixed):
            for acls in by_name.values():
                yield from acls


_NOTHING = _Patterns()


class Authorizer:
    def __init__(
        self,
        acls: Iterable[Acl],
        super_users: frozenset[str] = frozenset(),
        allow_if_no_acl: bool = False,
    ) -> None:
        self.version = object()
        """By which others know it again, without keeping it alive."""
        self.acls = tuple(dict.fromkeys(acls))
        self.super_users = super_users
        self.allow_if_no_acl = allow_if_no_acl
        self._of_client: dict[tuple[ResourceType, str, str], _Patterns] = defaultdict(_Patterns)
        """By the principal and the address that they are about."""
        self._of_all: dict[ResourceType, _Patterns] = defaultdict(_Patterns)
        self._decisions: Bounded[_Question, Decision] = Bounded(MOST_ANSWERS)
        self._any: Bounded[tuple[str, str, Operation, ResourceType], bool] = Bounded(MOST_ANSWERS)
        for acl in self.acls:
            where = acl.resource_type, acl.principal, canonical_host(acl.host)
            self._of_client[where].add(acl)
            if allow_if_no_acl:
                self._of_all[acl.resource_type].add(acl)

    def authorize(
        self,
        principal: Principal,
        host: str,
        operation: Operation,
        resource_type: ResourceType,
        name: str,
    ) -> Decision:
        question = (principal, host, operation, resource_type, name)
        decision = self._decisions.use(question)
        if decision is None:
            decision = self._decide(
                str(principal), canonical_host(host), operation, resource_type, name
            )
            if len(name) <= LONGEST_NAME:
                self._decisions.keep(question, decision)
        return decision

    def _decide(
        self, who: str, host: str, operation: Operation, resource_type: ResourceType, name: str
    ) -> Decision:
        if who in self.super_users:
            return SUPER_USER
        allowing: Acl | None = None
        for patterns in self._patterns_of(who, host, resource_type):
            for acl in patterns.covering(name):
                if _speaks_of(acl, operation):
                    if acl.permission is Permission.DENY:
                        return Decision(False, Reason.ACL, acl)
                    allowing = allowing or acl
        if allowing is not None:
            return Decision(True, Reason.ACL, allowing)
        return NO_ACL if self._allows_by_default(resource_type, name) else DENIED

    def authorize_any(
        self, principal: Principal, host: str, operation: Operation, resource_type: ResourceType
    ) -> bool:
        """Whether the operation is allowed on at least one resource of the type. As in Kafka,
        implied operations count for nothing here, but for the one name that is asked first."""
        if self.authorize(principal, host, operation, resource_type, A_NAME).allowed:
            return True
        question = (str(principal), canonical_host(host), operation, resource_type)
        answer = self._any.use(question)
        if answer is None:
            answer = self._any_by_acls(*question)
            self._any.keep(question, answer)
        return answer

    def _any_by_acls(
        self, who: str, host: str, operation: Operation, resource_type: ResourceType
    ) -> bool:
        allowed: list[Acl] = []
        denied: set[tuple[PatternType, str]] = set()
        for patterns in self._patterns_of(who, host, resource_type):
            for acl in patterns:
                if acl.operation not in (operation, Operation.ALL):
                    continue
                if acl.permission is Permission.ALLOW:
                    allowed.append(acl)
                elif acl.is_wildcard:
                    return False
                else:
                    denied.add((acl.pattern_type, acl.name))
        return any(acl.is_wildcard or not _is_dominated(acl, denied) for acl in allowed)

    def _patterns_of(self, who: str, host: str, resource_type: ResourceType) -> Iterator[_Patterns]:
        for principal in dict.fromkeys((who, EVERY_USER)):
            for place in dict.fromkeys((host, WILDCARD)):
                yield self._of_client.get((resource_type, principal, place), _NOTHING)

    def _allows_by_default(self, resource_type: ResourceType, name: str) -> bool:
        if not self.allow_if_no_acl:
            return False
        return next(self._of_all.get(resource_type, _NOTHING).covering(name), None) is None


def _speaks_of(acl: Acl, operation: Operation) -> bool:
    return acl.operation in (operation, Operation.ALL) or (
        acl.permission is Permission.ALLOW and acl.operation in IMPLIED_BY.get(operation, ())
    )


def _is_dominated(acl: Acl, denied: set[tuple[PatternType, str]]) -> bool:
    """Whether an ACL that denies covers all that this one allows."""
    if acl.pattern_type is PatternType.LITERAL and (acl.pattern_type, acl.name) in denied:
        return True
    starts = (acl.name[:length] for length in range(1, len(acl.name) + 1))
    return any((PatternType.PREFIXED, start) in denied for start in starts)
