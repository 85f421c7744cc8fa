"""All ACLs, credentials and quotas at one version of the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from samsa.ports import SecurityEntry, SecurityKind
from samsa.security.acls import Acl
from samsa.security.quotas import QuotaEntity, Quotas

from .entries import (
    CredentialKey,
    QuotaKey,
    is_secret,
    read_acl,
    read_credential,
    read_quota,
    read_secret,
)

if TYPE_CHECKING:
    from samsa.security.scram import ScramCredential
    from samsa.security.stand_ins import Shapes

R = TypeVar("R")


@dataclass(frozen=True)
class Contents:
    version: int = 0
    acls: frozenset[Acl] = frozenset()
    credentials: Mapping[CredentialKey, ScramCredential] = field(default_factory=dict)
    quota_values: Mapping[QuotaKey, float] = field(default_factory=dict)
    stand_in_secret: bytes | None = None
    """Makes up the salts of users that there are not."""

    @cached_property
    def shapes(self) -> Shapes:
        """Of the credentials."""
        from samsa.security.stand_ins import shapes_of

        return shapes_of([(key.user, each) for key, each in self.credentials.items()])

    @cached_property
    def quotas(self) -> Quotas:
        by_entity: dict[QuotaEntity, dict[str, float]] = defaultdict(dict)
        for (entity, key), value in self.quota_values.items():
            by_entity[entity][key] = value
        return dict(by_entity)

    def after(
        self,
        version: int,
        put: Iterable[SecurityEntry],
        removed: Iterable[SecurityEntry] = (),
    ) -> Contents:
        """With entries put and removed. Raises what comes if one of them
        cannot be read."""
        acls, credentials, values = set(self.acls), {**self.credentials}, {**self.quota_values}
        secret = self.stand_in_secret
        for entry in removed:
            if entry.kind is SecurityKind.ACL:
                acls.discard(read_acl(entry))
            elif entry.kind is SecurityKind.CREDENTIAL:
                credentials.pop(CredentialKey.of(entry), None)
            else:
                values.pop(QuotaKey.of(entry), None)
        for entry in put:
            if entry.kind is SecurityKind.ACL:
                acls.add(read_acl(entry))
            elif is_secret(entry):
                secret = read_secret(entry)
            elif entry.kind is SecurityKind.CREDENTIAL:
                credentials[CredentialKey.of(entry)] = read_credential(entry)
            else:
                values[QuotaKey.of(entry)] = read_quota(entry)
        return Contents(version, frozenset(acls), credentials, values, secret)


NOTHING = Contents()


class ChangePlan(NamedTuple, Generic[R]):
    """The changes that an admin's request makes to the present contents, and its result."""

    result: R
    put: Sequence[SecurityEntry] = ()
    removed: Sequence[SecurityEntry] = ()
